import type { Kafka, logLevel as LogLevel, SASLOptions } from 'kafkajs';
import { kafkajs } from './kafkajs.ts';
import type { Logger } from 'pino';
import type { Config, Sasl } from '../../core/config.ts';
import { socketFactory } from './kafka-socket.ts';
import { tokenSource } from './kafka-token.ts';
import { lz4Codec } from './lz4-codec.ts';
import { snappyCodec } from './snappy-codec.ts';
import { zstdCodec } from './zstd-codec.ts';

export type { EachBatchPayload, IHeaders, Kafka, KafkaMessage } from 'kafkajs';

const { CompressionCodecs, CompressionTypes, Kafka: KafkaClient, logLevel } = kafkajs;

/** Registers the codecs that kafkajs lacks. Snappy is what we write; lz4 and zstd are for records that others write. */
function registerCodecs(): void {
  CompressionCodecs[CompressionTypes.Snappy] = () => snappyCodec;
  CompressionCodecs[CompressionTypes.LZ4] = () => lz4Codec;
  CompressionCodecs[CompressionTypes.ZSTD] = () => zstdCodec;
}

const LEVELS: ReadonlyMap<LogLevel, 'error' | 'warn' | 'info' | 'debug'> = new Map([
  [logLevel.ERROR, 'warn'],
  [logLevel.WARN, 'warn'],
  [logLevel.INFO, 'debug'],
  [logLevel.DEBUG, 'debug'],
]);

/** The brokers, beginning with any of them: kafkajs queries the first one first, and a halted one would keep every new client waiting. */
function fromAny(brokers: readonly string[]): string[] {
  const first = Math.floor(Math.random() * brokers.length);
  return [...brokers.slice(first), ...brokers.slice(0, first)];
}

function saslOptions(sasl: Sasl): SASLOptions {
  if (sasl.mechanism !== 'oauthbearer') return { ...sasl };
  const next = tokenSource(sasl);
  return { mechanism: 'oauthbearer', oauthBearerProvider: async () => ({ value: await next() }) };
}

/** The brokers, how connections to them are made, and the client's id. */
export type KafkaClientOptions = Pick<Config['kafka'], 'brokers' | 'tls' | 'sasl'> & { readonly clientId: string; readonly log: Logger };

/** A kafkajs client that logs to `log`. */
export function createKafka(options: KafkaClientOptions): Kafka {
  registerCodecs();
  return new KafkaClient({
    clientId: options.clientId,
    brokers: () => fromAny(options.brokers),
    ...(options.tls === undefined ? {} : { ssl: { ...options.tls } }),
    ...(options.sasl === undefined ? {} : { sasl: saslOptions(options.sasl) }),
    connectionTimeout: 3000,
    requestTimeout: 20_000,
    socketFactory: socketFactory(),
    retry: { initialRetryTime: 100, maxRetryTime: 2000, retries: 8 },
    logLevel: logLevel.WARN,
    logCreator: () => (entry) => {
      const { message, error } = entry.log as { message: string; error?: string };
      if (message.startsWith('Limiting retries for the idempotent producer')) return;
      options.log[LEVELS.get(entry.level) ?? 'debug']({ kafka: entry.namespace, reason: error }, message);
    },
  });
}

/** The audit as a program of its own: it reads Kafka and ClickHouse itself, beside a service that runs, and loads none of its processes. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pino } from 'pino';
import { readTime } from '../logsql/times.ts';
import { auditedLog } from '../pipeline/bus/audited-log.ts';
import { letterKey } from '../pipeline/bus/dead-letter.ts';
import { DeadLetters } from '../pipeline/bus/dead-letters.ts';
import { createKafka } from '../pipeline/bus/kafka.ts';
import type { AuditReport } from '../pipeline/core/audit-report.ts';
import { loadConfig, type Config } from '../pipeline/core/config.ts';
import { Store } from '../pipeline/store/client.ts';
import { audit, type LastLetters } from '../sinks/audit/audit.ts';
import { storedPositions } from '../sinks/audit/stored.ts';
import { sinks } from '../sinks/index.ts';
import { sinkGroup } from './roles/sink.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** What is audited: a topic (the log's without one) and a span of append times, as text; `onProgress` is told how many records are compared. */
export type AuditRequest = {
  readonly topic?: string;
  readonly from?: string;
  readonly to?: string;
  readonly onProgress?: (records: number) => void;
};

/** The request is wrong. */
export class AuditRequestError extends Error {
  override readonly name = 'UsageError';
}

/**
 * Audits the instance that this environment means: the real engines it names, and the embedded ones of the data directory. Throws
 * AuditRequestError for what cannot be asked, and an Error with a sentence where an engine does not answer.
 */
export async function runAudit(request: AuditRequest, env: Env): Promise<AuditReport & { readonly topic: string }> {
  const now = BigInt(Date.now()) * 1_000_000n;
  const sink = request.topic === undefined ? sinks.members[0] : sinks.members.find(({ signal }) => signal.topic.name === request.topic);
  const topics = sinks.members.map(({ signal }) => signal.topic.name).join(', ');
  if (sink === undefined)
    throw new AuditRequestError(`No table is filled from a topic ${JSON.stringify(request.topic)}; there is ${topics}.`);
  const topic = sink.signal.topic.name;
  const from = request.from === undefined ? null : Number(timeOf('from', request.from, now).start / 1_000_000n);
  const to = request.to === undefined ? null : Number(timeOf('to', request.to, now).end / 1_000_000n) + 1;
  const config = loadConfig({ ...env, ...embeddedEngines(env) });
  const kafka = createKafka({ brokers: config.kafka.brokers, clientId: 'logweir-audit', log: pino({ level: 'silent' }) });
  const store = new Store(config.clickhouse);
  try {
    const report = await audit({
      log: auditedLog(kafka, sink.signal, sinkGroup(sink.name)),
      signal: sink.signal,
      stored: storedPositions(store, sink.table),
      from,
      to,
      letters: () => lettersOf(kafka, topic),
      now: Date.now,
      ...(request.onProgress === undefined ? {} : { onProgress: request.onProgress }),
    });
    return { topic, ...report };
  } catch (error) {
    throw told(error, config);
  } finally {
    await store.close();
  }
}

/** An error of an engine's client as a sentence. */
function told(error: unknown, { kafka, clickhouse }: Config): unknown {
  if (!(error instanceof Error)) return error;
  if (error.name.startsWith('KafkaJS'))
    return new Error(`Kafka on ${kafka.brokers.join(', ')} does not answer: ${error.message}`, { cause: error });
  return (error as NodeJS.ErrnoException).code === undefined
    ? error
    : new Error(`ClickHouse on ${clickhouse.url} could not be asked: ${error.message}`, { cause: error });
}

/** When the last letter about each record of a topic was written. */
async function lettersOf(kafka: ReturnType<typeof createKafka>, topic: string): Promise<LastLetters> {
  const last = new Map<string, number>();
  const key = (partition: number, offset: number): string => letterKey({ topic, partition, offset });
  await new DeadLetters(kafka).read(0, (letters) => {
    for (const letter of letters) if (letter.topic === topic) last.set(letterKey(letter), letter.at);
    return Promise.resolve(true);
  });
  return (partition, offset) => last.get(key(partition, offset)) ?? null;
}

function timeOf(name: string, text: string, now: bigint): { readonly start: bigint; readonly end: bigint } {
  const time = readTime(text.trim(), now);
  if (time === null) throw new AuditRequestError(`--${name} ${JSON.stringify(text)} is no time: use now, -1h or 2026-11-20T10:00:00Z.`);
  return time;
}

/** Where the embedded engines of an instance are, for those that the environment does not name. */
function embeddedEngines(env: Env): Env {
  const folder = env['LOGWEIR_DATA_DIR'] || './data';
  const read = (name: string): string => {
    const file = path.join(folder, name);
    if (!existsSync(file)) throw new Error(`No instance has run on ${folder}: there is no ${file}. Set LOGWEIR_DATA_DIR.`);
    return readFileSync(file, 'utf8').trim();
  };
  const kafka = env['LOGWEIR_KAFKA_BROKERS'] ? {} : { LOGWEIR_KAFKA_BROKERS: read('kafka/brokers') };
  if (env['LOGWEIR_CLICKHOUSE_URL']) return kafka;
  const { password } = JSON.parse(read('clickhouse/secrets.json')) as { readonly password: string };
  return {
    ...kafka,
    LOGWEIR_CLICKHOUSE_URL: read('clickhouse/url'),
    LOGWEIR_CLICKHOUSE_USER: 'logweir',
    LOGWEIR_CLICKHOUSE_PASSWORD: password,
    LOGWEIR_CLICKHOUSE_DATABASE: 'logweir',
  };
}

/** A process that stores pings until it is killed: `consumer.ts '{"brokers":…,"clickhouse":{…}}'`. */
import { pino } from 'pino';
import { DeadLetters } from '../../../../pipeline/bus/dead-letters/dead-letters.ts';
import { createKafka } from '../../../../pipeline/bus/connection/kafka.ts';
import { RangeConsumer } from '../../../../pipeline/bus/consumer/range-consumer.ts';
import type { Config } from '../../../../pipeline/core/config.ts';
import { Store } from '../../../../pipeline/store/client.ts';
import { TableWriter } from '../../../../sinks/writer.ts';
import { pings, pingsSink } from './pings.ts';

const { brokers, clickhouse } = JSON.parse(process.argv[2] ?? '') as {
  readonly brokers: string;
  readonly clickhouse: Config['clickhouse'];
};
const log = pino({ level: 'warn' }, process.stderr);
const kafka = createKafka({ brokers: [brokers], clientId: 'pings', log });
const letters = new DeadLetters(kafka);
const consumer = new RangeConsumer({
  kafka,
  log,
  groupId: 'pings',
  signal: pings,
  limits: { rows: 14, bytes: 1e9, waits: [{ ms: 5, rows: Infinity }] },
  budget: 1e9,
  store: new TableWriter({ sink: pingsSink, store: new Store(clickhouse), log, mostRefused: 1, metrics: { stored: () => undefined } }),
  onCrash: () => process.exit(1),
  deadLetterLimit: 1,
  deadLetter: (some) => letters.write(some.map((letter) => ({ ...letter, version: '0' }))),
});
await consumer.start();

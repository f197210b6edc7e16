import { expect } from 'chai';
import type { Kafka as Client } from 'kafkajs';
import { pino } from 'pino';
import { createKafka } from '../../../pipeline/bus/connection/kafka.ts';
import { RangeConsumer } from '../../../pipeline/bus/consumer/range-consumer.ts';
import type { RangeStore } from '../../../pipeline/bus/consumer/range.ts';
import { ensureTopics } from '../../../pipeline/bus/records/topics.ts';
import { logsSignal } from '../../../pipeline/logs/logs-signal.ts';
import { LOGS_TOPIC } from '../../../pipeline/logs/record.ts';
import { createLogsSink } from '../../../sinks/logs.ts';
import { TableWriter } from '../../../sinks/writer.ts';
import { plainHeaders } from '../../fakes/log-record.ts';
import { cutLog } from './cut-log.ts';
import { leaseBroker, type LeasedBroker } from '../../engines/leased-broker.ts';
import { until } from '../instance.ts';
import { LogsqlStore } from '../logsql-store.ts';

const log = pino({ level: 'silent' });
const GROUP = 'power-loss';
const PARTITIONS = 5;

describe('a loss of power that took the end of the log', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  let broker: LeasedBroker;
  let kafka: Client;
  let consumer: RangeConsumer | null = null;

  before(async () => {
    [own, broker] = await Promise.all([LogsqlStore.start(), leaseBroker()]);
    kafka = createKafka({ brokers: [broker.brokers], clientId: 'test', log });
    await ensureTopics(kafka, [logsSignal.topic], { partitions: PARTITIONS });
  });
  after(async () => {
    await consumer?.stop();
    await broker.giveBack();
    await own.stop();
  });

  /** Puts a record of one row on a partition for each name, each in a batch of its own. */
  async function produce(partition: number, names: readonly string[]): Promise<void> {
    const producer = kafka.producer({ allowAutoTopicCreation: false });
    await producer.connect();
    const day = Math.floor(Date.now() / 86_400_000);
    const headers = plainHeaders({ tenantId: 1, retentionDays: 0, count: 1, bytes: 10 }, ['5', '{}', day]);
    for (const name of names) {
      const row = { _time: String(BigInt(Date.now()) * 1_000_000n), _stream_id: '5', severity: 0, level: '', service: '', _msg: name };
      await producer.send({ topic: LOGS_TOPIC, acks: -1, messages: [{ partition, value: `${JSON.stringify(row)}\n`, headers }] });
    }
    await producer.disconnect();
  }

  async function consume(store?: RangeStore): Promise<RangeConsumer> {
    const writer = new TableWriter({ sink: createLogsSink(), store: own.store, log, mostRefused: 1, metrics: { stored: () => undefined } });
    const started = new RangeConsumer({
      kafka,
      log,
      groupId: GROUP,
      signal: logsSignal,
      store: store ?? writer,
      limits: { rows: 4, bytes: 1e9, waits: [{ ms: 50, rows: Infinity }] },
      budget: 1e9,
      onCrash: () => undefined,
      deadLetter: () => Promise.reject(new Error('nothing is to be buried')),
      deadLetterLimit: 0,
    });
    await started.start();
    return started;
  }

  /** How often each name is stored of a partition. */
  async function stored(partition: number): Promise<Map<string, number>> {
    const rows = await own.store.ownerRows('SELECT _msg, toString(count()) FROM logs WHERE kafka_part = {partition:UInt16} GROUP BY _msg', {
      partition,
    });
    return new Map(rows.map(([name, count]) => [String(name), Number(count)]));
  }

  const allStored = (partition: number, names: readonly string[]): Promise<unknown> =>
    until(
      `all of partition ${String(partition)}`,
      () => stored(partition),
      (found) => names.every((name) => found.has(name)),
      240_000,
    );

  /** The broker ends as if the power failed, with these ends of its partitions, and comes back on the same ports. */
  async function losePower(ends: Readonly<Record<string, number>>): Promise<void> {
    await broker.kill();
    for (const [partition, keep] of Object.entries(ends)) cutLog(broker.logDir, partition, keep);
    await broker.restart();
  }

  /** Has the group stand where it stood before, as when its last commits were lost. */
  async function commit(partition: number, offset: number, metadata: string): Promise<void> {
    const member = kafka.consumer({ groupId: GROUP });
    await member.connect();
    await member.subscribe({ topic: LOGS_TOPIC });
    const joined = new Promise((resolve) => member.on(member.events.GROUP_JOIN, resolve));
    await member.run({ autoCommit: false, eachBatch: () => Promise.resolve() });
    await joined;
    await member.commitOffsets([{ topic: LOGS_TOPIC, partition, offset: String(offset), metadata }]);
    await member.disconnect();
  }

  const names = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, n) => `${prefix} ${String(n)}`);
  const once = (...all: readonly string[]): Map<string, number> => new Map(all.map((name) => [name, 1]));

  it('neither loses nor doubles what is taken afterwards, though it has the offsets of what was stored before', async () => {
    const old = names('old', 10);
    const fresh = names('new', 10);
    for (let partition = 0; partition < PARTITIONS; partition++) await produce(partition, old);
    consumer = await consume();
    for (let partition = 0; partition < PARTITIONS; partition++) await allStored(partition, old);
    await consumer.stop();
    consumer = null;
    // commits were lost as well: of partition 2 back to what is on the log, of 3 to an intent whose range was stored
    await commit(2, 2, '');
    await commit(3, 3, JSON.stringify({ e: 8, v: 1 }));
    await losePower({ 'logs.v1-0': 4, 'logs.v1-1': 4, 'logs.v1-3': 5, 'logs.v1-4': 0 });
    // partition 0 ends before what is committed, 1 goes beyond it, 4 has lost everything
    for (const [partition, count] of [3, 10, 10, 10, 2].entries()) await produce(partition, fresh.slice(0, count));
    consumer = await consume();
    for (const [partition, count] of [3, 10, 10, 10, 2].entries()) {
      await allStored(partition, fresh.slice(0, count));
      expect(await stored(partition), `partition ${String(partition)}`).to.deep.equal(once(...old, ...fresh.slice(0, count)));
    }
  });

  it('under a consumer that goes on, too', async () => {
    const before = await Promise.all([0, 1].map((partition) => stored(partition)));
    const more = names('more', 6);
    await losePower({ 'logs.v1-0': 5, 'logs.v1-1': 6 });
    // one partition stays behind what is committed for a while, one is beyond it at once
    await produce(1, more.concat(names('much', 12)));
    await produce(0, more.slice(0, 1));
    await allStored(0, more.slice(0, 1));
    await produce(0, more.slice(1));
    await allStored(0, more);
    await allStored(1, more.concat(names('much', 12)));
    expect(await stored(0)).to.deep.equal(new Map([...(before[0] ?? []), ...once(...more)]));
    expect(await stored(1)).to.deep.equal(new Map([...(before[1] ?? []), ...once(...more, ...names('much', 12))]));
  });
});

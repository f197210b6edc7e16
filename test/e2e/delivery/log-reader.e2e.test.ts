import { expect } from 'chai';
import type { Kafka as Client } from 'kafkajs';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { startKafka, type Kafka } from '../../../compose/embedded/kafka.mjs';
import { createKafka } from '../../../pipeline/bus/kafka.ts';
import { brokerConnections } from '../../../pipeline/bus/broker-connection.ts';
import { IdempotentProducer } from '../../../pipeline/bus/idempotent-producer.ts';
import { LogReader } from '../../../pipeline/bus/log-reader.ts';
import type { SentRecord } from '../../../pipeline/bus/sent-record.ts';
import { ensureTopics } from '../../../pipeline/bus/topics.ts';
import { logsSignal } from '../../../pipeline/logs/logs-signal.ts';
import { encodeLogHeaders, LOGS_TOPIC, NDJSON } from '../../../pipeline/logs/record.ts';
import { UnreadAge } from '../../../pipeline/bus/unread-age.ts';
import { until } from '../instance.ts';

const log = pino({ level: 'silent' });
const order = (a: SentRecord, b: SentRecord): number => a.partition - b.partition || a.offset - b.offset;

describe('records of logs.v1 on a real Kafka', function () {
  this.timeout(600_000);
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'logweir-log-'));
  let broker: Kafka;
  let kafka: Client;
  const sent: SentRecord[] = [];

  before(async () => {
    broker = await startKafka({ dataDir });
    kafka = createKafka({ brokers: [broker.brokers], clientId: 'test', log });
    await ensureTopics(kafka, [logsSignal.topic], { partitions: 3 });
  });
  after(async () => {
    await broker.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  /** Reads from these offsets until enough has come. */
  async function read(
    groupId: string,
    nextOf: (partition: number) => number | null,
    enough: (records: readonly SentRecord[]) => boolean,
  ): Promise<SentRecord[]> {
    const records: SentRecord[] = [];
    const reader = new LogReader({ kafka, log, groupId, topic: LOGS_TOPIC, onCrash: () => undefined });
    const take = (partition: number, batch: readonly Omit<SentRecord, 'partition'>[]): void =>
      void records.push(...batch.map((record) => ({ ...record, partition })));
    await reader.start({ nextOf, take: (batch) => take(batch.partition, batch.records) });
    try {
      await until(
        'the records',
        () => Promise.resolve(records.length),
        () => enough(records),
        240_000,
      );
    } finally {
      await reader.stop();
    }
    return records.sort(order);
  }

  it('lie where the producer was told, with the append time, tenant and bytes', async () => {
    const onSent = (records: readonly SentRecord[]): void => void sent.push(...records);
    const producer = new IdempotentProducer({ connect: brokerConnections(kafka), log, topic: LOGS_TOPIC, onSent });
    await producer.start();
    const results: Promise<Error | null>[] = [];
    for (let i = 0; i < 200; i++) {
      results.push(
        new Promise((done) => {
          const value = Buffer.alloc(i % 4 === 0 ? 300_000 : i % 7, 0x61 + (i % 20));
          const info = { tenantId: 1 + (i % 5), retentionDays: 0, count: i % 7 === 0 ? 0 : 1, bytes: 1 + i, encoding: NDJSON };
          producer.enqueue({
            partition: i % 3,
            compression: i % 2 === 0 ? 'none' : 'snappy',
            size: value.length,
            enqueuedAt: performance.now(),
            cancelled: false,
            seal: () => ({ value, headers: encodeLogHeaders(info, '[]'), info }),
            done,
          });
        }),
      );
      if (i % 50 === 49) await Promise.all(results);
    }
    expect((await Promise.all(results)).every((error) => error === null)).to.equal(true);
    await producer.stop();
    expect(sent.reduce((sum, { bytes }) => sum + bytes, 0)).to.equal((200 * 201) / 2);
    const all = await read(
      'from-the-start',
      () => null,
      ({ length }) => length >= sent.length,
    );
    expect(all).to.deep.equal([...sent].sort(order));
  });

  it('are read from where the taker says, and from the oldest where that is gone', async () => {
    const from = await read(
      'from-five',
      (partition) => (partition === 0 ? 5 : 1000),
      (records) => records.some(({ partition }) => partition === 0),
    );
    expect(from.filter(({ partition }) => partition === 0)[0]?.offset).to.equal(5);
    const admin = kafka.admin();
    await admin.connect();
    // kafkajs deletes only on a topic that this client has seen
    await admin.fetchTopicOffsets(LOGS_TOPIC);
    await admin.deleteTopicRecords({ topic: LOGS_TOPIC, partitions: [{ partition: 0, offset: '4' }] });
    await admin.disconnect();
    const left = await read(
      'from-the-gone',
      () => 2,
      (records) => records.some(({ partition }) => partition === 0),
    );
    expect(left.filter(({ partition }) => partition === 0)[0]?.offset).to.equal(4);
  });

  it('are in danger while they are old and a group has not consumed them', async () => {
    const week = 7 * 86_400_000;
    const later = (ms: number): UnreadAge => new UnreadAge({ kafka, topic: LOGS_TOPIC, groupId: 'unread', now: () => Date.now() + ms });
    const [now, then] = [later(0), later(0.71 * week)];
    expect(await now.check()).to.equal(null);
    expect(await then.check()).to.match(/partition 0/);
    const admin = kafka.admin();
    await admin.connect();
    const ends = await admin.fetchTopicOffsets(LOGS_TOPIC);
    const partitions = ends.map(({ partition, high }) => ({ partition, offset: high }));
    await admin.setOffsets({ groupId: 'unread', topic: LOGS_TOPIC, partitions });
    expect(await then.check()).to.equal(null);
    await admin.disconnect();
    await Promise.all([now.stop(), then.stop()]);
  });
});

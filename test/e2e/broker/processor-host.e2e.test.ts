import { expect } from 'chai';
import type { Kafka as Client } from 'kafkajs';
import { pino } from 'pino';
import { AdminConnection } from '../../../pipeline/bus/connection/admin-connection.ts';
import { createKafka } from '../../../pipeline/bus/connection/kafka.ts';
import { brokerConnections } from '../../../pipeline/bus/producer/broker-connection.ts';
import { IdempotentProducer } from '../../../pipeline/bus/producer/idempotent-producer.ts';
import type { SentRecord } from '../../../pipeline/bus/producer/sent-record.ts';
import { ensureTopics } from '../../../pipeline/bus/records/topics.ts';
import { logsSignal } from '../../../pipeline/logs/logs-signal.ts';
import { LOGS_TOPIC, NDJSON } from '../../../pipeline/logs/record.ts';
import { LagSeconds } from '../../../pipeline/bus/measured/lag-seconds.ts';
import { AbsoluteWriter } from '../../../pipeline/bus/producer/absolute-record.ts';
import { encodeTick, encodeHeaders } from '../../../pipeline/bus/records/record.ts';
import { SETTING, settingText, type Setting } from '../../../pipeline/core/setting.ts';
import { hostedProcessor } from '../../../pipeline/processors/merge/partials.ts';
import { ProcessorHost } from '../../../pipeline/processors/host/host.ts';
import { inputOf } from '../../../pipeline/processors/base/input.ts';
import type { Input, Processor } from '../../../pipeline/processors/base/processor.ts';
import { FakeStates } from '../../fakes/processor-host.ts';
import { until } from '../instance.ts';
import { leaseBroker, type LeasedBroker } from '../../engines/leased-broker.ts';

const log = pino({ level: 'silent' });
const order = (a: SentRecord, b: SentRecord): number => a.partition - b.partition || a.offset - b.offset;

describe('records of logs.v1 on a real Kafka', function () {
  this.timeout(600_000);
  let broker: LeasedBroker;
  let kafka: Client;
  const sent: SentRecord[] = [];

  before(async () => {
    broker = await leaseBroker();
    kafka = createKafka({ brokers: [broker.brokers], clientId: 'test', log });
    await ensureTopics(kafka, [logsSignal.topic], { partitions: 3 });
  });
  after(async () => {
    await broker.giveBack();
  });

  /** A host of one processor that keeps what it is given. */
  class Reading {
    readonly inputs: Input[] = [];
    readonly states = new FakeStates();
    readonly #host: ProcessorHost;

    constructor(groupId: string, { clock = Date.now, settings = [] }: { clock?: () => number; settings?: readonly Setting[] } = {}) {
      const processor: Processor = {
        name: 'collect',
        init: () => null,
        fold: (_state, input) => {
          this.inputs.push(input);
          return [];
        },
        snapshot: () => Buffer.from('{}'),
        restore: () => ({}),
        settings: {},
        checkSetting: () => null,
        configure: () => undefined,
      };
      this.#host = new ProcessorHost({
        ...{ kafka, log, groupId, topic: LOGS_TOPIC, inputOf, clock },
        hosted: [{ processor: hostedProcessor(processor), states: this.states }],
        settings: () => settings,
        writer: new AbsoluteWriter(kafka),
        tick: (partition, setting) => ({
          ...{ topic: LOGS_TOPIC, partition, key: null },
          ...encodeTick(logsSignal, setting === undefined ? {} : { [SETTING]: settingText(setting) }),
        }),
        onCrash: () => undefined,
      });
    }

    /** What counts of the records that were read, once there is enough. */
    async run(enough: (inputs: readonly Input[]) => boolean): Promise<SentRecord[]> {
      await this.#host.start();
      try {
        await until(
          'the records',
          () => Promise.resolve(this.inputs.length),
          () => enough(this.inputs),
          240_000,
        );
      } finally {
        await this.#host.stop();
      }
      const records = this.inputs.flatMap((input) =>
        input.kind === 'batch' && input.bytes > 0
          ? [
              {
                partition: input.partition,
                offset: input.offset,
                tenantId: input.tenantId,
                bytes: input.bytes,
                timestamp: input.appendedAt,
              },
            ]
          : [],
      );
      return records.sort(order);
    }
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
            seal: () => ({ value, headers: encodeHeaders(logsSignal, info, { streams: '[]' }), info }),
            done,
          });
        }),
      );
      if (i % 50 === 49) await Promise.all(results);
    }
    expect((await Promise.all(results)).every((error) => error === null)).to.equal(true);
    await producer.stop();
    expect(sent.reduce((sum, { bytes }) => sum + bytes, 0)).to.equal((200 * 201) / 2);
    const reading = new Reading('from-the-start');
    const all = await reading.run(({ length }) => length >= sent.length);
    expect(all).to.deep.equal([...sent].sort(order));
    // what it leaves says how far it came
    expect([...reading.states.snapshots].map(([partition, { next }]) => [partition, next])).to.have.deep.members(
      [0, 1, 2].map((partition) => [
        partition,
        1 + Math.max(...sent.filter((record) => record.partition === partition).map(({ offset }) => offset)),
      ]),
    );
  });

  it('are followed by a tick where no more come', async () => {
    const reading = new Reading('quiet', { clock: () => Date.now() + 11_000 });
    await reading.run((inputs) => new Set(inputs.filter(({ kind }) => kind === 'tick').map(({ partition }) => partition)).size === 3);
    const [tick] = reading.inputs.filter(({ kind }) => kind === 'tick');
    expect(tick).to.have.all.keys('kind', 'partition', 'offset', 'appendedAt');
    expect(tick?.offset).to.be.above(
      Math.max(...sent.filter(({ partition }) => partition === tick?.partition).map(({ offset }) => offset)),
    );
  });

  it('say in each partition what operators say, and not again where that is known', async () => {
    const said = (key: string, version = 1): Setting => ({ processor: 'collect', tenantId: 0, key, value: 'ü', version });
    const toldIn = (inputs: readonly Input[], wanted: Setting): number =>
      new Set(
        inputs.flatMap((input) =>
          input.kind === 'tick' && JSON.stringify(input.setting) === JSON.stringify(wanted) ? [input.partition] : [],
        ),
      ).size;
    const first = new Reading('told', { settings: [said('a'), said('b')] });
    await first.run((inputs) => toldIn(inputs, said('a')) === 3 && toldIn(inputs, said('b')) === 3);
    const second = new Reading('told-again', { settings: [said('a'), said('b', 2)] });
    for (const [partition, snapshot] of first.states.snapshots) second.states.snapshots.set(partition, snapshot);
    await second.run((inputs) => toldIn(inputs, said('b', 2)) === 3);
    expect(toldIn(second.inputs, said('a'))).to.equal(0);
  });

  it('are read from where the snapshot says, and from the oldest where that is gone', async () => {
    const some = (inputs: readonly Input[]): boolean => inputs.some(({ partition }) => partition === 0);
    const first = (reading: Reading): number | undefined => reading.inputs.find(({ partition }) => partition === 0)?.offset;
    const from = new Reading('from-five');
    from.states.snapshots.set(0, { next: 5, bytes: Buffer.from('{}') });
    await from.run(some);
    expect(first(from)).to.equal(5);
    const admin = kafka.admin();
    await admin.connect();
    // kafkajs deletes only on a topic that this client has seen
    await admin.fetchTopicOffsets(LOGS_TOPIC);
    await admin.deleteTopicRecords({ topic: LOGS_TOPIC, partitions: [{ partition: 0, offset: '4' }] });
    await admin.disconnect();
    const left = new Reading('from-the-gone');
    left.states.snapshots.set(0, { next: 2, bytes: Buffer.from('{}') });
    await left.run(some);
    expect(first(left)).to.equal(4);
  });

  it('are in danger while they are old and a group has not consumed them', async () => {
    const week = 7 * 86_400_000;
    const connection = new AdminConnection(kafka, 20_000);
    const later = (ms: number): LagSeconds =>
      new LagSeconds({ connection, topic: LOGS_TOPIC, groupId: 'unread', now: () => Date.now() + ms });
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
    await connection.disconnect();
  });
});

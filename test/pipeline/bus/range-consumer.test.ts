import { expect } from 'chai';
import type { EachBatchPayload, Kafka, KafkaMessage, OffsetsByTopicPartition } from 'kafkajs';
import { setImmediate as turn } from 'node:timers/promises';
import { pino } from 'pino';
import { RangeConsumer, type Range } from '../../../pipeline/bus/range-consumer.ts';
import { encodeHeaders } from '../../../pipeline/bus/record.ts';
import { eventually } from '../../fakes/eventually.ts';

type Committed = { offset: string; metadata: string };

const message = (offset: number): KafkaMessage => ({
  key: null,
  value: Buffer.from('{"_time":"0"}\n'),
  headers: encodeHeaders({ tenantId: 1, retentionDays: 0, count: 1, bytes: 0, days: [0], streams: new Map() }),
  offset: String(offset),
  timestamp: '0',
  attributes: 0,
});

/** A broker with one partition, as far as a consumer sees it; commits and look-ups can be made to wait or to fail. */
class FakeBroker {
  committed: Committed = { offset: '0', metadata: '' };
  readonly stored: Range[] = [];
  /** False: the batches are those of a consumer that has crashed. */
  isRunning = true;
  /** Called before a commit is done, and before a look-up of what is committed. */
  beforeCommit: () => Promise<void> = () => Promise.resolve();
  beforeLookUp: () => Promise<void> = () => Promise.resolve();
  /** The offsets that the consumer asked for by name. */
  readonly sought: string[] = [];
  #eachBatch: (payload: EachBatchPayload) => Promise<void> = () => Promise.resolve();
  readonly #listeners = new Map<string, (event: { payload: object }) => void>();

  readonly kafka = {
    consumer: () => ({
      events: { GROUP_JOIN: 'join', REBALANCING: 'rebalancing', CRASH: 'crash' },
      on: (name: string, listener: (event: { payload: object }) => void) => this.#listeners.set(name, listener),
      connect: () => Promise.resolve(),
      subscribe: () => Promise.resolve(),
      disconnect: () => Promise.resolve(),
      seek: ({ offset }: { offset: string }) => this.sought.push(offset),
      run: ({ eachBatch }: { eachBatch: (payload: EachBatchPayload) => Promise<void> }) => {
        this.#eachBatch = eachBatch;
        return Promise.resolve();
      },
    }),
    admin: () => ({
      connect: () => Promise.resolve(),
      disconnect: () => Promise.resolve(),
      fetchOffsets: async () => {
        await this.beforeLookUp();
        return [{ topic: 't', partitions: [{ partition: 0, ...this.committed }] }];
      },
    }),
  } as unknown as Kafka;

  readonly consumer = new RangeConsumer({
    kafka: this.kafka,
    log: pino({ level: 'silent' }),
    groupId: 'g',
    topic: 't',
    limits: { rows: 1000, bytes: 1e9, idleMs: 0, busyRows: 1e9, busyMs: 5 },
    store: {
      store: (range) => {
        this.stored.push(range);
        return Promise.resolve([]);
      },
    },
    onCrash: () => undefined,
    bury: () => Promise.resolve(),
    deadLetterLimit: 100,
  });

  emit(name: 'join' | 'rebalancing', partitions: readonly number[] = [0]): void {
    this.#listeners.get(name)?.({ payload: { memberAssignment: { t: partitions } } });
  }

  /** Hands over a batch of these offsets. */
  batch(...offsets: readonly number[]): Promise<void> {
    const last = String(offsets.at(-1));
    return this.#eachBatch({
      batch: { topic: 't', partition: 0, highWatermark: last, messages: offsets.map(message), lastOffset: () => last },
      resolveOffset: () => undefined,
      heartbeat: () => Promise.resolve(),
      isRunning: () => this.isRunning,
      isStale: () => false,
      commitOffsetsIfNecessary: async (offsets: OffsetsByTopicPartition) => {
        await this.beforeCommit();
        const { offset, metadata } = offsets.topics[0]?.partitions[0] as unknown as Committed;
        this.committed = { offset, metadata };
      },
    } as unknown as EachBatchPayload);
  }

  get storedOffsets(): number[] {
    return this.stored.flatMap(({ records }) => records.map(({ offset }) => offset));
  }
}

/** A promise, and what ends it. */
function gate(): { readonly passed: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open: () => open() };
}

describe('range consumer', () => {
  let broker: FakeBroker;

  beforeEach(async () => {
    broker = new FakeBroker();
    await broker.consumer.start();
    broker.emit('join');
  });

  afterEach(() => broker.consumer.stop());

  it('asks where the group stands only when the last commit of the assignment before is over', async () => {
    const late = gate();
    // the commit behind the range is under way while the group joins anew
    broker.beforeCommit = () => (broker.stored.length === 0 ? Promise.resolve() : late.passed);
    await broker.batch(0, 1);
    await eventually(
      'a stored range',
      () => broker.stored.length,
      (count) => count === 1,
    );
    broker.emit('rebalancing');
    broker.emit('join');
    broker.beforeCommit = () => Promise.resolve();
    // the consumer has been told the old position, and reads the same again
    const again = broker.batch(0, 1, 2);
    await turn();
    late.open();
    await again;
    await eventually(
      'the end',
      () => broker.committed,
      ({ offset }) => offset === '3',
    );
    expect(broker.storedOffsets).to.deep.equal([0, 1, 2]);
  });

  it('keeps the reader of an assignment when the opening of the one before fails late', async () => {
    const broken = gate();
    let isAsked = false;
    broker.beforeLookUp = async () => {
      isAsked = true;
      await broken.passed;
      throw new Error('the broker is away');
    };
    const lost = broker.batch(0).catch((error: unknown) => error);
    await eventually(
      'a look-up',
      () => isAsked,
      (asked) => asked,
    );
    broker.emit('rebalancing');
    broker.emit('join');
    let lookUps = 0;
    broker.beforeLookUp = () => {
      lookUps += 1;
      return Promise.resolve();
    };
    await broker.batch(0, 1);
    broken.open();
    await lost;
    await broker.batch(2, 3);
    await eventually(
      'the end',
      () => broker.committed,
      ({ offset, metadata }) => offset === '4' && metadata === '',
    );
    expect(lookUps).to.equal(1);
    expect(broker.storedOffsets).to.deep.equal([0, 1, 2, 3]);
  });

  it('does not store a range whose intent was refused', async () => {
    broker.beforeCommit = () => Promise.reject(new Error('not a member'));
    await broker.batch(0, 1);
    broker.emit('rebalancing');
    expect(broker.stored).to.deep.equal([]);
  });

  it('opens no reader for a batch of before a crash, whose commits nobody would take', async () => {
    let lookUps = 0;
    broker.beforeLookUp = () => {
      lookUps += 1;
      return Promise.resolve();
    };
    broker.isRunning = false;
    await broker.batch(0, 1);
    expect(lookUps).to.equal(0);
    broker.isRunning = true;
    await broker.batch(0, 1);
    await eventually(
      'the end',
      () => broker.committed,
      ({ offset }) => offset === '2',
    );
    expect([lookUps, broker.storedOffsets]).to.deep.equal([1, [0, 1]]);
  });

  it('reads anew what lies before a batch that was fetched under an assignment before', async () => {
    broker.beforeCommit = () => Promise.reject(new Error('the group is joined anew'));
    await broker.batch(0, 1);
    broker.emit('join');
    broker.beforeCommit = () => Promise.resolve();
    await broker.batch(2, 3);
    expect(broker.sought).to.deep.equal(['0']);
    await broker.batch(0, 1, 2, 3, 4);
    await eventually(
      'the end',
      () => broker.committed,
      ({ offset }) => offset === '5',
    );
    expect(broker.storedOffsets).to.deep.equal([0, 1, 2, 3, 4]);
  });

  it('goes on behind offsets that the log has no more', async () => {
    await broker.batch(7, 8);
    await broker.batch(7, 8);
    await eventually(
      'the end',
      () => broker.committed,
      ({ offset }) => offset === '9',
    );
    expect([broker.sought, broker.storedOffsets]).to.deep.equal([['0'], [7, 8]]);
  });

  it('leaves a batch alone whose partition went to another member', async () => {
    let lookUps = 0;
    broker.beforeLookUp = () => {
      lookUps += 1;
      return Promise.resolve();
    };
    broker.emit('join', []);
    await broker.batch(0, 1);
    expect([lookUps, broker.stored]).to.deep.equal([0, []]);
  });
});

import type { EachBatchPayload, Kafka, KafkaMessage, OffsetsByTopicPartition } from 'kafkajs';
import { pino } from 'pino';
import { RangeConsumer, type RangeConsumerOptions } from '../../pipeline/bus/consumer/range-consumer.ts';
import type { Range } from '../../pipeline/bus/consumer/range.ts';
import type { Signal } from '../../pipeline/bus/records/signal.ts';
import { logsSignal } from '../../pipeline/logs/logs-signal.ts';
import { plainHeaders } from './log-record.ts';
import { rangeStore } from './range-store.ts';

type Committed = { offset: string; metadata: string };

const SIGNAL: Signal = { ...logsSignal, topic: { ...logsSignal.topic, name: 't' } };

const message = (offset: number): KafkaMessage => ({
  key: null,
  value: Buffer.from('{"_time":"0"}\n'),
  headers: plainHeaders({ tenantId: 1, retentionDays: 0, count: 1, bytes: 0 }, ['5', '{}', 0]),
  offset: String(offset),
  timestamp: '0',
  attributes: 0,
});

/** A broker with one partition, as far as a consumer sees it; commits and look-ups can be made to wait or to fail. */
export class FakeGroupBroker {
  committed: Committed = { offset: '0', metadata: '' };
  readonly stored: Range[] = [];
  /** Where the log ends; nothing on it is newer than what is committed. */
  end = '1000';
  /** Where it begins. */
  low = '0';
  /** What the consumer reported as expired. */
  readonly expired: (readonly [number, number])[] = [];
  /** False: the batches are those of a consumer that has crashed. */
  isRunning = true;
  /** Called before a commit is done, and before a look-up of what is committed. */
  beforeCommit: () => Promise<void> = () => Promise.resolve();
  beforeLookUp: () => Promise<void> = () => Promise.resolve();
  /** The leader's epoch of what is handed over. */
  leader = 0;
  /** True once no more is fetched. */
  isPaused = false;
  /** The offsets that the consumer asked for by name. */
  readonly sought: string[] = [];
  #eachBatch: (payload: EachBatchPayload) => Promise<void> = () => Promise.resolve();
  /** What it reads no more. */
  readonly paused = new Set<number>();
  drained = 0;
  /** Called before a range is stored. */
  beforeStore: () => Promise<void> = () => Promise.resolve();
  /** How many consumers of kafkajs there were. */
  consumers = 0;
  readonly #listeners = new Map<string, (event: { payload: object }) => void>();

  readonly kafka = {
    consumer: () => ({
      number: (this.consumers += 1),
      events: { GROUP_JOIN: 'join', HEARTBEAT: 'heartbeat', REBALANCING: 'rebalancing', CRASH: 'crash' },
      on: (name: string, listener: (event: { payload: object }) => void) => this.#listeners.set(name, listener),
      connect: () => Promise.resolve(),
      subscribe: () => Promise.resolve(),
      disconnect: () => Promise.resolve(),
      pause: ([{ partitions }]: [{ partitions?: number[] }]) => {
        if (partitions === undefined) this.isPaused = true;
        for (const partition of partitions ?? []) this.paused.add(partition);
      },
      resume: ([{ partitions }]: [{ partitions: number[] }]) => {
        for (const partition of partitions) this.paused.delete(partition);
      },
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
      fetchTopicOffsets: () => Promise.resolve([{ partition: 0, low: this.low, high: this.end, offset: this.end }]),
      fetchTopicOffsetsByTimestamp: () => Promise.resolve([{ partition: 0, offset: this.end }]),
    }),
  } as unknown as Kafka;

  readonly #deadlineMs: number;

  constructor(deadlineMs = 60_000) {
    this.#deadlineMs = deadlineMs;
    this.consumer = new RangeConsumer(this.#options());
  }

  readonly consumer: RangeConsumer;

  #options = (): RangeConsumerOptions => ({
    deadlineMs: this.#deadlineMs,
    kafka: this.kafka,
    log: pino({ level: 'silent' }),
    groupId: 'g',
    signal: SIGNAL,
    limits: { rows: 1000, bytes: 1e9, waits: [{ ms: 0, rows: Infinity }] },
    budget: 20_000,
    onDrained: () => (this.drained += 1),
    store: rangeStore({
      store: async (range) => {
        await this.beforeStore();
        this.stored.push(range);
        return [];
      },
    }),
    onCrash: () => undefined,
    onExpired: ({ first, last }) => this.expired.push([first, last]),
    deadLetter: () => Promise.resolve(),
    deadLetterLimit: 100,
  });

  emit(name: 'join' | 'rebalancing', partitions: readonly number[] = [0]): void {
    this.#listeners.get(name)?.({ payload: { memberAssignment: { t: partitions } } });
  }

  /** Hands over a batch of these offsets. */
  batch(...offsets: readonly number[]): Promise<void> {
    const last = String(offsets.at(-1));
    return this.#eachBatch({
      batch: {
        topic: 't',
        partition: 0,
        highWatermark: last,
        messages: offsets.map((offset) => ({ ...message(offset), batchContext: { partitionLeaderEpoch: this.leader } })),
        lastOffset: () => last,
      },
      resolveOffset: () => undefined,
      heartbeat: () => Promise.resolve(),
      isRunning: () => this.isRunning,
      isStale: () => false,
      commitOffsetsIfNecessary: async (offsets: OffsetsByTopicPartition) => {
        await this.beforeCommit();
        const { offset, metadata } = offsets.topics[0]!.partitions[0] as unknown as Committed;
        this.committed = { offset, metadata };
      },
    } as unknown as EachBatchPayload);
  }

  get storedOffsets(): number[] {
    return this.stored.flatMap(({ records }) => records.map(({ offset }) => offset));
  }
}

import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import type { Logger } from 'pino';
import type { Service } from '../core/service.ts';
import { PartitionReader, type Intent, type RangeLimits } from './partition-reader.ts';
import type { LogRecord } from './record.ts';
import { decodeRecord, withoutRows } from './record.ts';

/** The records of one partition from `start` to `end` (offsets, inclusive): what is stored by one insert, or not at all. */
export type Range = {
  readonly topic: string;
  readonly partition: number;
  readonly start: number;
  readonly end: number;
  readonly rows: number;
  readonly records: readonly LogRecord[];
};

/** Where ranges are stored. Both must be safe to repeat for the same range, from any process. */
export interface RangeStore {
  /** Stores the rows of a range (there may be none); resolves when it is stored whole. `again`: an earlier try may have stored it, or a part of it. */
  store(range: Range, again: boolean): Promise<void>;
}

export type RangeConsumerOptions = {
  readonly kafka: Kafka;
  readonly log: Logger;
  readonly groupId: string;
  readonly topic: string;
  readonly store: RangeStore;
  readonly limits: RangeLimits;
  /** Called when the consumer cannot go on: the process should end and be started again. */
  readonly onCrash: (error: Error) => void;
  /** Called for a record that is none of ours, which is skipped. */
  readonly onPoison: (partition: number, offset: string, reason: string) => void;
  readonly onLag: (partition: number, lag: number) => void;
};

/**
 * Reads a topic in ranges and has each stored exactly once (docs/adr/0003-exactly-once-sink.md): the range's end is written into
 * the metadata of the committed offset before it is stored, so that whoever owns the partition next repeats exactly that range.
 */
export class RangeConsumer implements Service {
  readonly name: string;
  readonly #options: RangeConsumerOptions;
  readonly #consumer: Consumer;
  readonly #readers = new Map<number, Promise<PartitionReader>>();
  /** Grows with every assignment; whoever holds an older one may not commit any more. */
  #epoch = 0;
  #running = false;
  #joined = false;

  constructor(options: RangeConsumerOptions) {
    this.#options = options;
    this.name = `consumer ${options.groupId}`;
    this.#consumer = options.kafka.consumer({
      groupId: options.groupId,
      sessionTimeout: 6000,
      rebalanceTimeout: 30_000,
      heartbeatInterval: 1500,
      maxWaitTimeInMs: 100,
      minBytes: 1,
      maxBytesPerPartition: 1024 * 1024,
      maxBytes: 4 * 1024 * 1024,
      retry: { retries: 10, initialRetryTime: 100, maxRetryTime: 2000 },
    });
  }

  /** True while this process is a member of its consumer group. */
  get joined(): boolean {
    return this.#joined;
  }

  async start(): Promise<void> {
    const { events } = this.#consumer;
    this.#consumer.on(events.GROUP_JOIN, () => {
      this.#abandon();
      this.#joined = true;
    });
    this.#consumer.on(events.REBALANCING, () => {
      this.#abandon();
    });
    this.#consumer.on(events.CRASH, ({ payload }) => {
      this.#joined = false;
      this.#options.log.error({ err: payload.error, restart: payload.restart }, 'The Kafka consumer crashed.');
      if (!payload.restart && this.#running) this.#options.onCrash(payload.error);
    });
    await this.#consumer.connect();
    await this.#consumer.subscribe({ topic: this.#options.topic, fromBeginning: true });
    this.#running = true;
    await this.#consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: 64,
      eachBatch: (payload) => this.#batch(payload),
    });
  }

  /** Lets running ranges finish (they are committed), then leaves the group. */
  async stop(): Promise<void> {
    this.#running = false;
    await Promise.allSettled([...this.#readers.values()].map((reader) => reader.then((open) => open.finish())));
    this.#abandon();
    await this.#consumer.disconnect();
  }

  /** Forgets all that was read but not stored: it is read again by whoever gets the partition. */
  #abandon(): void {
    this.#epoch += 1;
    for (const reader of this.#readers.values()) {
      reader
        .then((open) => {
          open.abandon();
        })
        .catch(() => undefined);
    }
    this.#readers.clear();
  }

  async #batch({ batch, resolveOffset, heartbeat, isRunning, isStale }: EachBatchPayload): Promise<void> {
    const epoch = this.#epoch;
    const reader = await this.#reader(batch.partition);
    const stale = (): boolean => epoch !== this.#epoch || !this.#running || !isRunning() || isStale();
    if (stale()) return;
    for (const message of batch.messages) {
      const record = decodeRecord(batch.partition, message);
      if (typeof record === 'string') {
        this.#options.onPoison(batch.partition, message.offset, record);
        reader.add(withoutRows(batch.partition, Number(message.offset)));
      } else reader.add(record);
    }
    resolveOffset(batch.lastOffset());
    this.#options.onLag(batch.partition, Math.max(0, Number(batch.highWatermark) - 1 - Number(batch.lastOffset())));
    while (reader.full && !stale()) {
      await heartbeat();
      await reader.room(500);
    }
    await heartbeat();
  }

  /** The reader of a partition, which first learns whether its last owner left an intent behind. */
  #reader(partition: number): Promise<PartitionReader> {
    let reader = this.#readers.get(partition);
    if (reader === undefined) {
      reader = this.#openReader(partition, this.#epoch);
      this.#readers.set(partition, reader);
      reader.catch(() => {
        this.#readers.delete(partition);
      });
    }
    return reader;
  }

  async #openReader(partition: number, epoch: number): Promise<PartitionReader> {
    const { topic, store, limits, log } = this.#options;
    const intent = await this.#readIntent(partition);
    if (intent !== null) log.info({ partition, ...intent }, 'An intent was left behind; its range is checked and repeated.');
    const reader = new PartitionReader({
      topic,
      partition,
      intent,
      limits,
      log,
      store,
      isCurrent: () => epoch === this.#epoch,
      commit: (offset, metadata) => this.#consumer.commitOffsets([{ topic, partition, offset: String(offset), metadata }]),
    });
    reader.start();
    return reader;
  }

  async #readIntent(partition: number): Promise<Intent | null> {
    const { kafka, groupId, topic } = this.#options;
    const admin = kafka.admin();
    await admin.connect();
    try {
      const [group] = await admin.fetchOffsets({ groupId, topics: [topic] });
      const committed = group?.partitions.find((entry) => entry.partition === partition);
      const metadata = committed?.metadata ?? '';
      return metadata === '' || committed === undefined
        ? null
        : { start: Number(committed.offset), end: (JSON.parse(metadata) as { e: number }).e };
    } finally {
      await admin.disconnect();
    }
  }
}

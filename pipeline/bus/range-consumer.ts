import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import type { Logger } from 'pino';
import type { Service } from '../core/service.ts';
import { decodeMetadata, type Progress } from './commit-metadata.ts';
import type { Fault } from './dead-letter.ts';
import { PartitionReader, type RangeLimits } from './partition-reader.ts';
import type { RangeStepsOptions } from './range-steps.ts';
import { decodeRecord, unreadable, type LogRecord } from './record.ts';
import { rowsFault } from './row-lines.ts';

/** The records of one partition from `start` to `end` (offsets, inclusive): what is stored by one insert, or not at all. */
export type Range = {
  readonly topic: string;
  readonly partition: number;
  readonly start: number;
  readonly end: number;
  readonly rows: number;
  readonly records: readonly LogRecord[];
};

/** A record that cannot be stored, and why. */
export type Refusal = { readonly record: LogRecord; readonly fault: Fault };

/** Where ranges are stored. It must be safe to repeat for the same range, from any process, also with fewer of its records. */
export interface RangeStore {
  /**
   * Stores the rows of a range; resolves with an empty list when it is stored whole, or with the records that cannot be stored, and
   * then none is. `again`: an earlier try may have stored it, or a part of it.
   */
  store(range: Range, again: boolean): Promise<readonly Refusal[]>;
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
  readonly bury: RangeStepsOptions['bury'];
  readonly deadLetterLimit: number;
};

/**
 * Commits once, as the member of the group that got the batch. `consumer.commitOffsets` does not do: it repeats what failed after it has
 * joined anew, when the partition may be another member's, and says nothing where it did nothing because the consumer is stopping.
 */
type Commit = EachBatchPayload['commitOffsetsIfNecessary'];

/**
 * Reads a topic in ranges and has each stored exactly once (docs/adr/0003-exactly-once-sink.md): the range's end is written into
 * the metadata of the committed offset before it is stored, so that whoever owns the partition next repeats exactly that range.
 */
export class RangeConsumer implements Service {
  readonly name: string;
  readonly #options: RangeConsumerOptions;
  readonly #consumer: Consumer;
  readonly #readers = new Map<number, Promise<PartitionReader>>();
  /** The last commit of each partition; resolves when it is over, however it ended. */
  readonly #commits = new Map<number, Promise<void>>();
  /** The partitions that stand still, and why. */
  readonly #halted = new Map<number, string>();
  /** The offsets that were asked for by name, since what came began beyond them. */
  readonly #sought = new Map<number, number>();
  #assigned: readonly number[] = [];
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

  get group(): { readonly topic: string; readonly groupId: string } {
    const { topic, groupId } = this.#options;
    return { topic, groupId };
  }

  /** The partitions that belong to this process now. */
  get assigned(): readonly number[] {
    return this.#assigned;
  }

  /** The partitions that stand still because too many of their records cannot be stored. */
  get halted(): ReadonlyMap<number, string> {
    return this.#halted;
  }

  async start(): Promise<void> {
    const { events } = this.#consumer;
    this.#consumer.on(events.GROUP_JOIN, ({ payload }) => {
      this.#abandon();
      this.#joined = true;
      this.#assigned = payload.memberAssignment[this.#options.topic] ?? [];
    });
    this.#consumer.on(events.REBALANCING, () => {
      this.#abandon();
    });
    this.#consumer.on(events.CRASH, ({ payload }) => {
      this.#abandon();
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
    this.#halted.clear();
    this.#sought.clear();
  }

  async #batch({ batch, resolveOffset, heartbeat, isRunning, isStale, commitOffsetsIfNecessary }: EachBatchPayload): Promise<void> {
    const epoch = this.#epoch;
    const stale = (): boolean => epoch !== this.#epoch || !this.#running || !isRunning() || isStale();
    // a batch of before a crash may not open the reader of after it
    if (stale() || !this.#assigned.includes(batch.partition)) return;
    const reader = await this.#reader(batch.partition, commitOffsetsIfNecessary);
    if (stale() || this.#leavesGap(batch, reader)) return;
    for (const message of batch.messages) {
      const decoded = decodeRecord(batch.partition, message);
      const fault = 'reason' in decoded ? decoded : rowsFault(decoded);
      reader.add(fault === null ? (decoded as LogRecord) : unreadable(batch.partition, message, fault));
    }
    resolveOffset(batch.lastOffset());
    while (reader.full && !stale()) {
      await heartbeat();
      await reader.room(500);
    }
    await heartbeat();
  }

  /**
   * True for a batch that begins beyond what comes next, which is then read anew. kafkajs joins the group again while a fetch from another
   * broker is open: its answer goes on where the assignment before stood, behind records that were read but not stored. What is not
   * there when it is asked for by name is not there at all.
   */
  #leavesGap({ partition, messages }: EachBatchPayload['batch'], { next }: PartitionReader): boolean {
    if (Number(messages[0]?.offset ?? next) <= next || this.#sought.get(partition) === next) return false;
    this.#sought.set(partition, next);
    this.#consumer.seek({ topic: this.#options.topic, partition, offset: String(next) });
    return true;
  }

  /** The reader of a partition, which first learns whether its last owner left an intent behind. */
  #reader(partition: number, commit: Commit): Promise<PartitionReader> {
    let reader = this.#readers.get(partition);
    if (reader === undefined) {
      reader = this.#openReader(partition, this.#epoch, commit);
      this.#readers.set(partition, reader);
      const opened = reader;
      reader.catch(() => {
        // the one of a later assignment stays
        if (this.#readers.get(partition) === opened) this.#readers.delete(partition);
      });
    }
    return reader;
  }

  async #openReader(partition: number, epoch: number, commit: Commit): Promise<PartitionReader> {
    const { topic, log } = this.#options;
    // what an abandoned reader was just committing may still arrive: only after it does the broker tell where things stand
    await this.#commits.get(partition);
    const progress = await this.#readProgress(partition);
    if (progress.intent !== null)
      log.info({ partition, ...progress.intent }, 'An intent was left behind; its range is checked and repeated.');
    const isCurrent = (): boolean => epoch === this.#epoch;
    const reader = new PartitionReader({
      ...this.#options,
      partition,
      progress,
      isCurrent,
      commit: (offset, metadata) => {
        const position = { partition, offset: String(offset), metadata };
        const committing = commit({ topics: [{ topic, partitions: [position] }] });
        this.#commits.set(
          partition,
          committing.catch(() => undefined),
        );
        return committing;
      },
      onHalt: (why) => {
        if (why === null) this.#halted.delete(partition);
        else if (isCurrent()) this.#halted.set(partition, why);
      },
    });
    reader.start();
    return reader;
  }

  /** Where the group stands in a partition, and what its last owner left behind. */
  async #readProgress(partition: number): Promise<Progress> {
    const { kafka, groupId, topic } = this.#options;
    const admin = kafka.admin();
    await admin.connect();
    try {
      const [group] = await admin.fetchOffsets({ groupId, topics: [topic] });
      const committed = group?.partitions.find((entry) => entry.partition === partition);
      return decodeMetadata(Math.max(0, Number(committed?.offset ?? -1)), committed?.metadata ?? '');
    } finally {
      await admin.disconnect();
    }
  }
}

import type { EachBatchPayload, Kafka } from 'kafkajs';
import type { Logger } from 'pino';
import type { Service } from '../../core/service.ts';
import { queryOnce } from '../connection/admin-connection.ts';
import { AssignedPartition, type PartitionOwner } from './assigned-partition.ts';
import { FlowControl } from './flow-control.ts';
import { GroupMember } from './group-member.ts';
import { GroupCommits } from './group-commits.ts';
import { InsertPace, type PaceLimits } from './insert-pace.ts';
import { readProgress } from './progress.ts';
import type { RangeStepsOptions } from './range-steps.ts';
import type { RangeStore } from './range.ts';
import { readChecked } from '../records/record.ts';
import { SharedQueries } from './shared-queries.ts';
import { boundsOf, committedBy } from '../reading/group-positions.ts';
import type { Signal } from '../records/signal.ts';
import { withTimeout } from '../connection/with-timeout.ts';

export type RangeConsumerOptions = {
  readonly kafka: Kafka;
  readonly log: Logger;
  readonly groupId: string;
  readonly signal: Signal;
  readonly store: RangeStore;
  readonly limits: PaceLimits;
  /** Most bytes of records that are read and not stored yet, of all partitions together (`FlowControl`). */
  readonly budget: number;
  /** Called when a backlog is stored: what it took is garbage now. */
  readonly onDrained?: () => void;
  /** Called when the consumer cannot go on: the process should end and be started again. */
  readonly onCrash: (error: Error) => void;
  /** Called when the group's coordinator did not answer any more, and is given up. */
  readonly onSilence?: () => void;
  /** Called when records were deleted by Kafka before they were read. */
  readonly onExpired?: (expired: Expired) => void;
  readonly deadLetter: RangeStepsOptions['deadLetter'];
  readonly deadLetterLimit: number;
  /** How long an answer of Kafka to a commit, or to where the group stands, is waited for; milliseconds. */
  readonly deadlineMs?: number;
};

/** Offsets of a partition whose records Kafka deleted before they were read. */
export type Expired = { readonly topic: string; readonly partition: number; readonly first: number; readonly last: number };

/** Longer than kafkajs takes for all its tries. */
const DEADLINE_MS = 60_000;
/** How long a start waits for what has expired: less than an outage of Kafka may take. Milliseconds. */
const LOOK_MS = 10_000;

/**
 * Reads a signal's topic in ranges and has each stored exactly once (docs/adr/0003-exactly-once-sink.md): the range's end is written into
 * the metadata of the committed offset before it is stored, so that the partition's next owner repeats exactly that range.
 */
export class RangeConsumer implements Service {
  readonly name: string;
  readonly #options: RangeConsumerOptions;
  readonly #member: GroupMember;
  readonly #flow: FlowControl;
  readonly #owner: PartitionOwner;
  #queries: SharedQueries;
  /** Every partition that was assigned to this process, also those that are not any more. */
  readonly #partitions = new Map<number, AssignedPartition>();
  #assigned: readonly number[] = [];
  /** Grows with every assignment: a batch of an older one is stale. */
  #epoch = 0;
  #running = false;
  /** Resolves when it has been looked what is read on. */
  #look: Promise<void> | null = null;

  constructor(options: RangeConsumerOptions) {
    this.#options = options;
    this.name = `consumer ${options.groupId}`;
    const { kafka, log, groupId, budget, onDrained, onCrash, onSilence = (): void => undefined } = options;
    this.#member = new GroupMember({
      ...{ kafka, log, groupId, topic: this.#topic, onCrash, onSilence },
      // a fetch names each partition, so few large ones; of small records 2 MiB are about 14,000, which take up 60 MB when they are decoded
      fetch: { minBytes: 256 * 1024, maxWaitTimeInMs: 100, maxBytesPerPartition: 1024 * 1024, maxBytes: 2 * 1024 * 1024 },
      concurrency: 64,
      onAssigned: (partitions) => {
        // a query of the assignment before may never be answered
        this.#queries = this.#newQueries();
        this.#assigned = partitions;
        this.#flow.assign(partitions);
      },
      onLost: () => {
        this.#abandon();
      },
      onBatch: (payload) => this.#batch(payload),
    });
    this.#flow = new FlowControl({
      budget,
      onDrained: onDrained ?? (() => undefined),
      pause: (partitions) => {
        this.#member.pause(partitions);
      },
      resume: (partitions) => {
        this.#member.resume(partitions);
      },
    });
    this.#queries = this.#newQueries();
    this.#owner = this.#createOwner();
  }

  /** True while this process is a member of its consumer group. */
  get joined(): boolean {
    return this.#member.joined;
  }

  get group(): { readonly topic: string; readonly groupId: string } {
    return { topic: this.#topic, groupId: this.#options.groupId };
  }

  /** The partitions that belong to this process now. */
  get assigned(): readonly number[] {
    return this.#assigned;
  }

  /** The partitions that are halted because too many of their records cannot be stored, and why. */
  get halted(): ReadonlyMap<number, string> {
    const halted = new Map<number, string>();
    for (const [partition, { halted: why }] of this.#partitions) if (why !== null) halted.set(partition, why);
    return halted;
  }

  async start(): Promise<void> {
    this.#running = true;
    await this.#reportExpiredBefore();
    await this.#member.start();
  }

  /** Lets running ranges finish (they are committed), then leaves the group. */
  async stop(): Promise<void> {
    if (this.#running) this.#member.halt();
    this.#running = false;
    this.#flow.stop();
    await Promise.allSettled(Array.from(this.#partitions.values(), (partition) => partition.finish()));
    this.#abandon();
    await this.#member.leave();
  }

  get #topic(): string {
    return this.#options.signal.topic.name;
  }

  #createOwner(): PartitionOwner {
    const { log, groupId, store, limits, deadLetter, deadLetterLimit, deadlineMs = DEADLINE_MS } = this.#options;
    const topic = this.#topic;
    return {
      reader: { topic, log, store, limits, pace: new InsertPace({ limits, store, log }), deadLetter, deadLetterLimit },
      log,
      commits: new GroupCommits({
        topic,
        deadlineMs,
        onSilence: () => {
          this.#member.renew();
        },
      }),
      isRunning: () => this.#running,
      readProgress: (partition, last, more) =>
        this.#queries.use((admin) => withTimeout(deadlineMs, readProgress({ admin, log, groupId, topic, partition, last, ...more }))),
      seek: (partition, offset) => {
        this.#member.seek(partition, offset);
      },
      onMissing: (partition, from, to) => {
        // a group that has read nothing has missed nothing
        if (from > 0) void this.#reportExpired(partition, from, to);
      },
      watch: (partition, holding) => {
        this.#flow.watch(partition, holding);
      },
      onCapacity: () => {
        void this.#readOn();
      },
    };
  }

  /** What expired while no process consumed. Before the group is joined: kafkajs then forgets an offset that no longer exists. */
  async #reportExpiredBefore(): Promise<void> {
    const { kafka, log, groupId } = this.#options;
    const topic = this.#topic;
    try {
      const [committed, bounds] = await queryOnce(kafka, LOOK_MS, (admin) =>
        Promise.all([committedBy(admin, groupId, topic), boundsOf(admin, topic)]),
      );
      for (const [partition, { low }] of bounds) {
        const from = committed.get(partition)?.offset ?? 0;
        if (from > 0 && from < low) this.#expired({ topic, partition, first: from, last: low - 1 });
      }
    } catch (error) {
      log.warn({ err: error, topic }, 'It is unknown whether records have expired unread.');
    }
  }

  #expired(expired: Expired): void {
    const { log, onExpired } = this.#options;
    log.error(expired, 'Records have expired unread: Kafka deleted them before they were stored.');
    onExpired?.(expired);
  }

  /** Offsets without records may be of a transaction, or of a batch that a producer gave up: those behind which the log begins are expired. */
  async #reportExpired(partition: number, from: number, to: number): Promise<void> {
    const { log } = this.#options;
    const topic = this.#topic;
    try {
      const bounds = await this.#queries.use((admin) => boundsOf(admin, topic));
      const last = Math.min(to, bounds.get(partition)?.low ?? 0) - 1;
      if (last >= from) this.#expired({ topic, partition, first: from, last });
    } catch (error) {
      log.error(
        { err: error, topic, partition, from, to },
        'Records are missing from the log, and Kafka did not report whether it deleted them.',
      );
    }
  }

  /** Many partitions get records, and begin and end ranges, in the same turn of the event loop: it is looked once what is read on. */
  #readOn(): Promise<void> {
    this.#look ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#look = null;
        this.#flow.update();
        resolve();
      });
    });
    return this.#look;
  }

  #newQueries(): SharedQueries {
    const { kafka, deadlineMs = DEADLINE_MS } = this.#options;
    return new SharedQueries(kafka, deadlineMs);
  }

  #abandon(): void {
    this.#epoch += 1;
    for (const partition of this.#partitions.values()) partition.abandon();
  }

  async #batch({ batch, resolveOffset, heartbeat, isRunning, isStale, commitOffsetsIfNecessary }: EachBatchPayload): Promise<void> {
    const epoch = this.#epoch;
    const stale = (): boolean => epoch !== this.#epoch || !this.#running || !isRunning() || isStale();
    // a batch of before a crash may not open the reader of after it
    if (stale() || !this.#assigned.includes(batch.partition)) return;
    const reader = await this.#partition(batch.partition).readerOf(batch, commitOffsetsIfNecessary, heartbeat, stale);
    if (reader === null) return;
    for (const message of batch.messages) reader.add(readChecked(this.#options.signal, batch.partition, message));
    resolveOffset(batch.lastOffset());
    reader.lag(Number(batch.highWatermark) - 1 - Number(batch.lastOffset()));
    // before the next fetch
    await this.#readOn();
    await heartbeat();
  }

  #partition(number: number): AssignedPartition {
    const known = this.#partitions.get(number) ?? new AssignedPartition(number, this.#owner);
    this.#partitions.set(number, known);
    return known;
  }
}

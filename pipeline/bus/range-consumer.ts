import type { EachBatchPayload, Kafka, KafkaMessage } from 'kafkajs';
import type { Logger } from 'pino';
import type { Service } from '../core/service.ts';
import type { Progress } from './commit-metadata.ts';
import type { Fault } from './dead-letter.ts';
import { FlowControl } from './flow-control.ts';
import { GroupMember } from './group-member.ts';
import { PartitionReader, type RangeLimits } from './partition-reader.ts';
import { readProgress, type Commitment, type ProgressOptions } from './progress.ts';
import type { RangeStepsOptions } from './range-steps.ts';
import { readChecked, type SignalRecord } from './record.ts';
import type { Signal } from './signal.ts';
import { withTimeout } from './with-timeout.ts';

/** The records of one partition from `start` to `end` (offsets, inclusive): what is stored by one insert, or not at all. */
export type Range<Own extends SignalRecord = SignalRecord> = {
  readonly topic: string;
  readonly partition: number;
  readonly start: number;
  readonly end: number;
  readonly rows: number;
  readonly records: readonly Own[];
  /**
   * Set where its rows may be stored already by ranges with other bounds, or other rows under its token: the append time of its last
   * record, milliseconds, which tells it from a range of the same bounds whose end the log has lost.
   */
  readonly inDoubt?: number | null;
};

/** A record that cannot be stored, and why. */
export type Refusal = { readonly record: SignalRecord; readonly fault: Fault };

/** Where ranges are stored. It must be safe to repeat for the same range, from any process, also with fewer of its records. */
export interface RangeStore {
  /**
   * Stores the rows of a range; resolves with an empty list when it is stored whole, or with the records that cannot be stored, and
   * then none is. `again`: an earlier try may have stored it, or a part of it.
   */
  store(range: Range, again: boolean): Promise<readonly Refusal[]>;
  /** The highest offset of a partition that has rows, from `from` on; -1 where none has. */
  highest(partition: number, from: number): Promise<number>;
}

export type RangeConsumerOptions = {
  readonly kafka: Kafka;
  readonly log: Logger;
  readonly groupId: string;
  readonly signal: Signal;
  readonly store: RangeStore;
  readonly limits: RangeLimits;
  /** Most bytes of records that are read and not stored yet, of all partitions together (`FlowControl`). */
  readonly budget: number;
  /** Called when a backlog is stored: what it took is garbage now. */
  readonly onDrained?: () => void;
  /** Called when the consumer cannot go on: the process should end and be started again. */
  readonly onCrash: (error: Error) => void;
  /** Called when the group's coordinator did not answer any more, and is given up. */
  readonly onSilence?: () => void;
  readonly deadLetter: RangeStepsOptions['deadLetter'];
  readonly deadLetterLimit: number;
  /** How long an answer of Kafka to a commit, or to where the group stands, is waited for; milliseconds. */
  readonly deadlineMs?: number;
};

/** Longer than kafkajs takes for all its tries. */
const DEADLINE_MS = 60_000;

/**
 * Commits once, under the generation of the group that kafkajs holds when it is called. That may be a later one than the batch came with,
 * and the broker does not ask whose the partition is: who calls it must know that the assignment still stands. `consumer.commitOffsets`
 * does not do: it repeats what failed after it has joined anew, when the partition may be another member's, and says nothing where it did
 * nothing because the consumer is stopping.
 */
type Commit = EachBatchPayload['commitOffsetsIfNecessary'];

/** What kafkajs tells of a record that it has fetched, beyond its types. */
type FetchedMessage = KafkaMessage & { readonly batchContext?: { readonly partitionLeaderEpoch?: number } };

/**
 * Reads a topic in ranges and has each stored exactly once (docs/adr/0003-exactly-once-sink.md): the range's end is written into
 * the metadata of the committed offset before it is stored, so that whoever owns the partition next repeats exactly that range.
 */
export class RangeConsumer implements Service {
  readonly name: string;
  readonly #options: RangeConsumerOptions;
  readonly #member: GroupMember;
  readonly #flow: FlowControl;
  readonly #readers = new Map<number, Promise<PartitionReader>>();
  /** Those of them that have begun their work. */
  readonly #begun = new Map<number, PartitionReader>();
  /** How the reader of each partition commits: as long as it holds records, since kafkajs keeps the last batch for it. */
  readonly #commit = new Map<number, Commit>();
  /** The last commit of each partition; resolves when it is over, however it ended. */
  readonly #commits = new Map<number, Promise<void>>();
  /** What the last successful commit of each partition said. */
  readonly #committed = new Map<number, Commitment>();
  /** The readers that were closed: each resolves when it has done its last step. */
  readonly #ending = new Map<number, Promise<unknown>>();
  /** Which reader of each partition may still commit. */
  readonly #current = new Map<number, symbol>();
  /** The highest leader epoch whose records each reader has got. */
  readonly #leaders = new Map<number, number>();
  /** The partitions that stand still, and why. */
  readonly #halted = new Map<number, string>();
  /** The offsets that were asked for by name, since what came began beyond them or ended before them. */
  readonly #sought = new Map<number, number>();
  readonly #deadlineMs: number;
  #assigned: readonly number[] = [];
  /** Grows with every assignment; whoever holds an older one may not commit any more. */
  #epoch = 0;
  #running = false;

  constructor(options: RangeConsumerOptions) {
    this.#options = options;
    this.name = `consumer ${options.groupId}`;
    this.#deadlineMs = options.deadlineMs ?? DEADLINE_MS;
    const { kafka, log, groupId, budget, onDrained, onCrash, onSilence = (): void => undefined } = options;
    this.#member = new GroupMember({
      ...{ kafka, log, groupId, topic: this.#topic, onCrash, onSilence },
      // of small records 2 MiB are about 14,000, which take up 60 MB when they are decoded
      fetch: { minBytes: 1, maxWaitTimeInMs: 100, maxBytesPerPartition: 1024 * 1024, maxBytes: 2 * 1024 * 1024 },
      concurrency: 64,
      onAssigned: (partitions) => {
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
  }

  /** True while this process is a member of its consumer group. */
  get joined(): boolean {
    return this.#member.joined;
  }

  get group(): { readonly topic: string; readonly groupId: string } {
    return { topic: this.#topic, groupId: this.#options.groupId };
  }

  get #topic(): string {
    return this.#options.signal.topic.name;
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
    this.#running = true;
    await this.#member.start();
  }

  /** Lets running ranges finish (they are committed), then leaves the group. */
  async stop(): Promise<void> {
    if (this.#running) this.#member.halt();
    this.#running = false;
    this.#flow.stop();
    await Promise.allSettled([...this.#begun.values()].map((reader) => reader.finish()));
    this.#abandon();
    await this.#member.leave();
  }

  /** Forgets all that was read but not stored: it is read again by whoever gets the partition. */
  #abandon(): void {
    this.#epoch += 1;
    for (const partition of this.#readers.keys()) this.#close(partition);
    this.#commit.clear();
    this.#halted.clear();
    this.#sought.clear();
    this.#leaders.clear();
  }

  /** Has the reader of a partition forget what it has not stored; the next batch opens one that begins where the group stands. */
  #close(partition: number): void {
    this.#current.delete(partition);
    // one that is still being opened does nothing any more, and what it asks Kafka may take minutes
    const ended = this.#begun.get(partition)?.abandon();
    if (ended !== undefined) this.#ending.set(partition, Promise.all([this.#ending.get(partition), ended]));
    this.#begun.delete(partition);
    this.#readers.delete(partition);
    this.#halted.delete(partition);
    this.#sought.delete(partition);
  }

  async #batch({ batch, resolveOffset, heartbeat, isRunning, isStale, commitOffsetsIfNecessary }: EachBatchPayload): Promise<void> {
    const epoch = this.#epoch;
    const stale = (): boolean => epoch !== this.#epoch || !this.#running || !isRunning() || isStale();
    // a batch of before a crash may not open the reader of after it
    if (stale() || !this.#assigned.includes(batch.partition)) return;
    if (this.#hasNewLeader(batch)) this.#close(batch.partition);
    this.#commit.set(batch.partition, commitOffsetsIfNecessary);
    const reader = await this.#reader(batch, heartbeat);
    if (stale() || this.#isElsewhere(batch, reader)) return;
    this.#commit.set(batch.partition, commitOffsetsIfNecessary);
    for (const message of batch.messages) {
      reader.add(readChecked(this.#options.signal, batch.partition, message));
    }
    resolveOffset(batch.lastOffset());
    reader.lag(Number(batch.highWatermark) - 1 - Number(batch.lastOffset()));
    this.#flow.update();
    await heartbeat();
  }

  /** True for the first records of a leader that came after the one whose records the reader got: its log may end before theirs. */
  #hasNewLeader({ partition, messages }: EachBatchPayload['batch']): boolean {
    const leader = (messages.at(-1) as FetchedMessage | undefined)?.batchContext?.partitionLeaderEpoch;
    const known = this.#leaders.get(partition);
    if (leader === undefined || (known !== undefined && leader <= known)) return false;
    this.#leaders.set(partition, leader);
    return known !== undefined;
  }

  /**
   * True for a batch that does not go on where the reader stands, which is then asked for by name.
   * It begins later: kafkajs joins the group again while a fetch from another broker is open, whose answer goes on where the assignment
   * before stood, behind records that were read but not stored. What is not there when it is asked for is not there at all.
   * It ends before: the reader knows better where to begin; or the log has lost its end, and kafkajs began anew.
   */
  #isElsewhere({ partition, messages }: EachBatchPayload['batch'], { next }: PartitionReader): boolean {
    const [first, last] = [messages[0], messages.at(-1)].map((message) => Number(message?.offset ?? next)) as [number, number];
    const isSought = this.#sought.get(partition) === next;
    if (last < next && isSought) {
      this.#close(partition);
      return true;
    }
    if (last >= next && (first <= next || isSought)) return false;
    this.#sought.set(partition, next);
    this.#member.seek(partition, next);
    return true;
  }

  /** The reader of a partition, which first learns whether its last owner left an intent behind. */
  #reader(batch: EachBatchPayload['batch'], heartbeat: () => Promise<void>): Promise<PartitionReader> {
    const { partition } = batch;
    let reader = this.#readers.get(partition);
    if (reader === undefined) {
      reader = this.#openReader(batch, this.#epoch, heartbeat);
      this.#readers.set(partition, reader);
      const opened = reader;
      reader.catch(() => {
        // the one of a later assignment stays
        if (this.#readers.get(partition) === opened) this.#readers.delete(partition);
      });
    }
    return reader;
  }

  async #openReader(
    { partition, highWatermark }: EachBatchPayload['batch'],
    epoch: number,
    heartbeat: () => Promise<void>,
  ): Promise<PartitionReader> {
    const { log } = this.#options;
    const topic = this.#topic;
    const self = Symbol('reader');
    this.#current.set(partition, self);
    // what an abandoned reader was just committing may still arrive: only after it does the broker tell where things stand
    await this.#commits.get(partition);
    const progress = await this.#readProgress(partition, { atLeast: Number(highWatermark), onWait: heartbeat });
    if (progress.intent !== null)
      log.info({ partition, ...progress.intent }, 'An intent was left behind; its range is checked and repeated.');
    const isCurrent = (): boolean => epoch === this.#epoch && this.#current.get(partition) === self;
    const reader = new PartitionReader({
      ...this.#options,
      topic,
      partition,
      progress,
      after: this.#ending.get(partition) ?? Promise.resolve(),
      isCurrent,
      commit: (offset, metadata) => {
        const position = { partition, offset: String(offset), metadata };
        const commit = this.#commit.get(partition);
        if (commit === undefined) return Promise.reject(new Error('BUG: a commit of a partition that holds nothing.'));
        const committing = withTimeout(this.#deadlineMs, commit({ topics: [{ topic, partitions: [position] }] }), () => {
          // what is still under way has the generation before then, and is refused
          this.#member.renew();
        });
        const known = committing.then(() => {
          this.#committed.set(partition, { offset, metadata });
        });
        this.#commits.set(
          partition,
          known.catch(() => undefined),
        );
        return known;
      },
      onRoom: () => {
        const { gathered, storing } = reader.holding;
        if (gathered + storing === 0 && isCurrent()) this.#commit.delete(partition);
        this.#flow.update();
      },
      onHalt: (why) => {
        if (why === null) this.#halted.delete(partition);
        else if (isCurrent()) {
          this.#halted.set(partition, why);
          reader.discard();
        }
        this.#flow.update();
      },
    });
    if (!isCurrent() || !this.#running) return reader;
    this.#begun.set(partition, reader);
    this.#flow.watch(partition, () => ({ ...reader.holding, isStill: isCurrent() && this.#halted.has(partition) }));
    reader.start();
    return reader;
  }

  async #readProgress(partition: number, more: Pick<ProgressOptions, 'atLeast' | 'onWait'>): Promise<Progress> {
    const { kafka, log, groupId } = this.#options;
    const topic = this.#topic;
    const admin = kafka.admin();
    const read = async (): Promise<Progress> => {
      await admin.connect();
      return readProgress({ admin, log, groupId, topic, partition, last: this.#committed.get(partition), ...more });
    };
    try {
      return await withTimeout(this.#deadlineMs, read());
    } finally {
      // not waited for: it may be what does not answer
      admin.disconnect().catch(() => undefined);
    }
  }
}

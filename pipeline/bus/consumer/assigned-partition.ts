import type { EachBatchPayload } from 'kafkajs';
import type { Logger } from 'pino';
import type { Progress } from '../reading/commit-metadata.ts';
import type { Holding } from './flow-control.ts';
import type { Commit, GroupCommits } from './group-commits.ts';
import { PartitionReader, type PartitionReaderOptions } from './partition-reader.ts';
import type { ProgressOptions } from './progress.ts';
import type { Commitment } from '../reading/group-positions.ts';

type Batch = EachBatchPayload['batch'];

/** What kafkajs reports of a record that it has fetched, beyond its types. */
type FetchedMessage = Batch['messages'][number] & { readonly batchContext?: { readonly partitionLeaderEpoch?: number } };

/** What a partition needs of the consumer that it is assigned to. */
export type PartitionOwner = {
  readonly reader: Omit<PartitionReaderOptions, 'partition' | 'progress' | 'after' | 'isCurrent' | 'commit' | 'onCapacity' | 'onHalt'>;
  readonly log: Logger;
  readonly commits: GroupCommits;
  /** False once no more than what was begun is to be done. */
  isRunning(): boolean;
  readProgress(partition: number, last: Commitment | undefined, more: Pick<ProgressOptions, 'atLeast' | 'onWait'>): Promise<Progress>;
  seek(partition: number, offset: number): void;
  /** What begins at `from` is not there when it is requested: `to` is the next offset that is. */
  onMissing(partition: number, from: number, to: number): void;
  /** Registers the function that returns what the partition has buffered. */
  watch(partition: number, holding: () => Holding): void;
  /** What the partition has buffered has changed. */
  onCapacity(): void;
};

/**
 * One partition of a range consumer: its reader while it is assigned, and what outlives the assignment, since the next one must know it:
 * the last commit, and the steps that are not over.
 */
export class AssignedPartition {
  readonly #partition: number;
  readonly #owner: PartitionOwner;
  #reader: Promise<PartitionReader> | null = null;
  /** The reader, once it has begun its work. */
  #begun: PartitionReader | null = null;
  /** Which reader may still commit; null: none. */
  #current: symbol | null = null;
  /** How the reader commits: as long as it has records buffered, since kafkajs keeps the last batch for it. */
  #commit: Commit | null = null;
  /** Resolves when the last commit is over, however it ended. */
  #committing: Promise<void> = Promise.resolve();
  /** The last successful commit. */
  #committed: Commitment | undefined;
  /** Resolves when the readers that were closed have done their last steps. */
  #ending: Promise<unknown> = Promise.resolve();
  /** The highest leader epoch whose records the reader has got. */
  #leader: number | null = null;
  /** The offset that a seek requested, since what came began beyond it or ended before it. */
  #sought: number | null = null;
  #halted: string | null = null;

  constructor(partition: number, owner: PartitionOwner) {
    this.#partition = partition;
    this.#owner = owner;
  }

  /** Why it is halted: too many of its records cannot be stored. Null while it is not. */
  get halted(): string | null {
    return this.#halted;
  }

  /** Stores what has been read so far, then ends. */
  async finish(): Promise<void> {
    await this.#begun?.finish();
  }

  /** The assignment is over: forgets all that was read but not stored, which the next owner of the partition reads again. */
  abandon(): void {
    this.#close();
    this.#commit = null;
    this.#leader = null;
  }

  /**
   * The reader that takes a batch, which is given `commit`; null where there is none now, since the batch does not go on where the reader
   * stands. `isStale`: true once the assignment of the batch is over.
   */
  async readerOf(batch: Batch, commit: Commit, heartbeat: () => Promise<void>, isStale: () => boolean): Promise<PartitionReader | null> {
    if (this.#hasNewLeader(batch)) this.#close();
    this.#commit = commit;
    const reader = await this.#opened(batch, heartbeat);
    if (isStale() || this.#isElsewhere(batch, reader)) return null;
    this.#commit = commit;
    return reader;
  }

  /** Has the reader forget what it has not stored; the next batch opens one that begins where the group stands. */
  #close(): void {
    this.#current = null;
    // one that is still being opened does nothing any more, and what it queries Kafka for may take minutes
    if (this.#begun !== null) this.#ending = Promise.all([this.#ending, this.#begun.abandon()]);
    this.#begun = null;
    this.#reader = null;
    this.#halted = null;
    this.#sought = null;
  }

  /** True for the first records of a leader that came after the one whose records the reader got: its log may end before theirs. */
  #hasNewLeader({ messages }: Batch): boolean {
    const last: FetchedMessage | undefined = messages.at(-1);
    const leader = last?.batchContext?.partitionLeaderEpoch;
    const known = this.#leader;
    if (leader === undefined || (known !== null && leader <= known)) return false;
    this.#leader = leader;
    return known !== null;
  }

  /**
   * True for a batch that does not go on where the reader stands; a seek then requests that offset.
   * It begins later: kafkajs joins the group again while a fetch from another broker is open, whose answer goes on where the assignment
   * before stood, behind records that were read but not stored. An offset that is not there when a seek requests it does not exist.
   * It ends before: the reader knows better where to begin; or the log was truncated, and kafkajs began again.
   */
  #isElsewhere({ messages }: Batch, { next }: PartitionReader): boolean {
    const [first, last] = [messages[0], messages.at(-1)].map((message) => Number(message?.offset ?? next)) as [number, number];
    const isSought = this.#sought === next;
    if (last < next && isSought) {
      this.#close();
      return true;
    }
    if (last >= next && (first <= next || isSought)) {
      if (first > next) this.#owner.onMissing(this.#partition, next, first);
      return false;
    }
    this.#sought = next;
    this.#owner.seek(this.#partition, next);
    return true;
  }

  /** The reader, which first learns whether its last owner left an intent behind. */
  #opened(batch: Batch, heartbeat: () => Promise<void>): Promise<PartitionReader> {
    if (this.#reader === null) {
      const opened = this.#open(batch, heartbeat);
      this.#reader = opened;
      opened.catch(() => {
        // the one of a later assignment stays
        if (this.#reader === opened) this.#reader = null;
      });
    }
    return this.#reader;
  }

  async #open({ highWatermark }: Batch, heartbeat: () => Promise<void>): Promise<PartitionReader> {
    const [partition, owner] = [this.#partition, this.#owner];
    const self = Symbol('reader');
    this.#current = self;
    const isCurrent = (): boolean => this.#current === self;
    // what an abandoned reader was just committing may still arrive: only after it does the broker return what is committed
    await this.#committing;
    const progress = await owner.readProgress(partition, this.#committed, { atLeast: Number(highWatermark), onWait: heartbeat });
    if (progress.intent !== null)
      owner.log.info({ partition, ...progress.intent }, 'An intent was left behind; its range is checked and retried.');
    const reader = new PartitionReader({
      ...owner.reader,
      partition,
      progress,
      after: this.#ending,
      isCurrent,
      commit: (offset, metadata) => this.#commitOnce(offset, metadata, isCurrent),
      onCapacity: () => {
        const { gathered, storing } = reader.holding;
        if (gathered + storing === 0 && isCurrent()) this.#commit = null;
        owner.onCapacity();
      },
      onHalt: (why) => {
        if (isCurrent()) this.#halted = why;
        if (why !== null && isCurrent()) reader.discard();
        owner.onCapacity();
      },
    });
    if (!isCurrent() || !owner.isRunning()) return reader;
    this.#begun = reader;
    owner.watch(partition, () => ({ ...reader.holding, isHalted: isCurrent() && this.#halted !== null }));
    reader.start();
    return reader;
  }

  #commitOnce(offset: number, metadata: string, isCurrent: () => boolean): Promise<void> {
    const commit = this.#commit;
    if (commit === null) return Promise.reject(new Error('BUG: a commit of a partition that has nothing buffered.'));
    const committing = this.#owner.commits.commit({ partition: this.#partition, offset, metadata, commit, isCurrent });
    const known = committing.then(() => {
      this.#committed = { offset, metadata };
    });
    this.#committing = known.catch(() => undefined);
    return known;
  }
}

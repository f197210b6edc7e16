import type { EachBatchPayload, Kafka } from 'kafkajs';
import type { Logger } from 'pino';
import { repeat } from '../../core/repeat.ts';
import type { Service } from '../../core/service.ts';
import { GroupCommits, type Commit } from './group-commits.ts';
import { GroupMember } from './group-member.ts';
import { isTick, readChecked } from '../records/record.ts';
import type { SignalRecord } from '../records/signal-record.ts';
import type { Signal } from '../records/signal.ts';
import { Unfinished } from './unfinished.ts';

export type RecordFeedOptions = {
  readonly kafka: Kafka;
  readonly log: Logger;
  readonly groupId: string;
  readonly signal: Signal;
  /** Takes a record, in the order of its partition, and need not be done with one when the next comes. One that it rejects comes again. */
  readonly take: (record: SignalRecord) => Promise<void>;
  /** Called when the feed cannot go on: the process should end and be started again. */
  readonly onCrash: (error: Error) => void;
  /** Between two commits, and before a record is given again that was rejected. Milliseconds. */
  readonly commitEveryMs?: number;
};

type Assigned = { readonly unfinished: Unfinished; commit: Commit | null; committed: number | null };

/** Records of a partition that are worked on at most; the next ones wait. */
const MOST_UNFINISHED = 1000;
const COMMIT_EVERY_MS = 1000;
const DEADLINE_MS = 60_000;
const HEARTBEAT_MS = 1000;

/**
 * Gives the records of a topic to code that acts outside of Kafka: each at least once, though the process is killed, and shared with the
 * other processes of the group. What cannot be read is passed over: it is the sink's dead letter.
 */
export class RecordFeed implements Service {
  readonly name: string;
  readonly #options: RecordFeedOptions;
  readonly #member: GroupMember;
  readonly #stop = new AbortController();
  #assigned = new Map<number, Assigned>();
  #commits: GroupCommits;
  #committing: Promise<void> | null = null;

  constructor(options: RecordFeedOptions) {
    this.#options = options;
    const { kafka, log, groupId, signal, onCrash } = options;
    this.name = `feed of ${signal.topic.name}`;
    this.#commits = this.#newCommits();
    this.#member = new GroupMember({
      ...{ kafka, log, groupId, topic: signal.topic.name, onCrash },
      fetch: { minBytes: 1, maxWaitTimeInMs: 500, maxBytesPerPartition: 1024 * 1024, maxBytes: 2 * 1024 * 1024 },
      onAssigned: (partitions) => {
        this.#commits = this.#newCommits();
        this.#assigned = new Map(
          partitions.map((partition) => [partition, { unfinished: new Unfinished(), commit: null, committed: null }]),
        );
      },
      onLost: () => {
        this.#assigned = new Map();
      },
      onBatch: (payload) => this.#batch(payload),
    });
  }

  /** True while this process is a member of the group. */
  get joined(): boolean {
    return this.#member.joined;
  }

  /** The partitions that this process has. */
  get partitions(): readonly number[] {
    return [...this.#assigned.keys()];
  }

  async start(): Promise<void> {
    this.#committing = repeat(this.#options.commitEveryMs ?? COMMIT_EVERY_MS, this.#stop.signal, () => this.#commit());
    await this.#member.start();
  }

  async stop(): Promise<void> {
    this.#member.halt();
    this.#stop.abort();
    await this.#committing;
    this.#assigned = new Map();
    await this.#member.leave();
  }

  async #batch({ batch, resolveOffset, heartbeat, commitOffsetsIfNecessary }: EachBatchPayload): Promise<void> {
    const { partition, messages } = batch;
    const assigned = this.#assigned.get(partition);
    if (assigned === undefined) return;
    assigned.commit = commitOffsetsIfNecessary;
    const isMine = (): boolean => this.#assigned.get(partition) === assigned && !this.#stop.signal.aborted;
    for (const message of messages) {
      while (isMine() && assigned.unfinished.size >= MOST_UNFINISHED) await this.#pause(heartbeat);
      if (!isMine()) return;
      const record = readChecked(this.#options.signal, partition, message);
      if (record.fault === null && !isTick(record)) void this.#give(record, assigned, isMine);
    }
    assigned.unfinished.skipTo(Number(batch.lastOffset()) + 1);
    resolveOffset(batch.lastOffset());
    await heartbeat();
  }

  async #give(record: SignalRecord, { unfinished }: Assigned, isMine: () => boolean): Promise<void> {
    const { take, log, commitEveryMs = COMMIT_EVERY_MS, signal } = this.#options;
    unfinished.begin(record.offset);
    for (let wait = commitEveryMs; isMine(); wait = Math.min(wait * 2, DEADLINE_MS)) {
      try {
        await take(record);
        unfinished.end(record.offset);
        return;
      } catch (error) {
        const { partition, offset } = record;
        log.warn({ err: error, topic: signal.topic.name, partition, offset }, 'A record failed to process; retrying.');
        await new Promise((resolve) => setTimeout(resolve, wait).unref());
      }
    }
  }

  async #pause(heartbeat: () => Promise<void>): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, HEARTBEAT_MS));
    await heartbeat();
  }

  async #commit(): Promise<void> {
    await Promise.all(
      [...this.#assigned].map(async ([partition, assigned]) => {
        const { commit, unfinished } = assigned;
        const offset = unfinished.done;
        if (commit === null || offset === null || offset === assigned.committed) return;
        try {
          const isCurrent = (): boolean => this.#assigned.get(partition) === assigned;
          await this.#commits.commit({ partition, offset, metadata: '', commit, isCurrent });
          assigned.committed = offset;
        } catch (error) {
          // the next one commits the same, or more
          this.#options.log.debug({ err: error, partition }, 'A commit timed out.');
        }
      }),
    );
  }

  #newCommits(): GroupCommits {
    return new GroupCommits({
      topic: this.#options.signal.topic.name,
      deadlineMs: DEADLINE_MS,
      onSilence: () => {
        this.#member.renew();
      },
    });
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import { createKafka, type EachBatchPayload, type Kafka } from '../../pipeline/bus/connection/kafka.ts';
import { withTimeout } from '../../pipeline/bus/connection/with-timeout.ts';
import { GroupCommits, type GroupCommit } from '../../pipeline/bus/consumer/group-commits.ts';
import { GroupMember } from '../../pipeline/bus/consumer/group-member.ts';
import type { Service } from '../../pipeline/core/service.ts';
import { KafkaIntake, type KafkaIntakeOptions } from './kafka-intake.ts';
import { groupsOf } from './record-bodies.ts';
import { waitToRetry } from './retry-wait.ts';

export type KafkaSourceOptions = KafkaIntakeOptions & {
  readonly topic: string;
  /** The client of the brokers that have the topic. */
  readonly kafka?: Kafka;
};

/** What a broker gives at once, of a partition and in all. Bytes as they are compressed; a larger record comes alone. */
const MAX_PARTITION_BYTES = 1_048_576;
const MAX_FETCH_BYTES = 2_097_152;
const FETCH_WAIT_MS = 500;
/** While records are waited for, the group hears of it as often. Milliseconds. */
const BEAT_MS = 1000;
const COMMIT_MS = 20_000;
/** Of a library's error, in a warning. Characters. */
const MOST_SHOWN = 300;
const LEAVE_MS = 3000;

/**
 * Pulls one topic of a Kafka that is not ours (docs/doors.md). Records are committed there once they are on the log here: what was put on the
 * log and not committed, when the process is killed, comes again. While they are refused for a while, nothing more is read.
 */
export class KafkaSource implements Service {
  readonly name: string;
  readonly #options: KafkaSourceOptions;
  readonly #intake: KafkaIntake;
  readonly #member: GroupMember;
  readonly #commits: GroupCommits;
  /** Ends the waits of what is being taken. */
  #giveUp = new AbortController();
  #isStopping = false;
  /** What is not taken yet, by partition; another map with each assignment. */
  #lags = new Map<number, number>();
  #batch: Promise<void> = Promise.resolve();

  constructor(options: KafkaSourceOptions) {
    const { door, topic, log } = options;
    const { brokers, tls, sasl, group } = door;
    const kafka =
      options.kafka ??
      createKafka({
        ...{ brokers, clientId: `logweir-door-${door.name}` },
        // each try says once more that it failed; the member says why it does not read
        log: log.isLevelEnabled('debug') ? log : log.child({}, { level: 'error' }),
        ...{ ...(tls === null ? {} : { tls }), ...(sasl === null ? {} : { sasl }) },
      });
    this.#options = options;
    this.name = `door ${door.name}, topic ${topic}`;
    this.#intake = new KafkaIntake(options);
    this.#commits = new GroupCommits({ topic, deadlineMs: COMMIT_MS, onSilence: () => this.#member.renew() });
    this.#member = new GroupMember({
      ...{ kafka, log, topic, groupId: `${group}.${topic}`, fromBeginning: door.from === 'beginning' },
      fetch: {
        ...{ minBytes: 1, maxWaitTimeInMs: FETCH_WAIT_MS, maxBytesPerPartition: MAX_PARTITION_BYTES, maxBytes: MAX_FETCH_BYTES },
        // a topic of others is theirs to make
        allowAutoTopicCreation: false,
      },
      onAssigned: () => this.#forget(),
      onLost: () => this.#forget(),
      onBatch: (payload) => {
        this.#batch = this.#take(payload);
        return this.#batch;
      },
    });
  }

  /** What an operator should know: that nothing is read. Null where all is well. */
  get warning(): string | null {
    const { door, topic } = this.#options;
    if (!this.#member.joined) {
      const { failure } = this.#member;
      const why = failure === null ? '' : ` (${oneLine(failure.message)})`;
      return `The door ${door.name} does not read the topic ${topic}: it could not join its group at ${door.brokers.join(', ')}${why}.`;
    }
    const { waitsFor } = this.#intake;
    return waitsFor === null ? null : `The door ${door.name} reads no further in the topic ${topic}: ${waitsFor}`;
  }

  /** Resolves at once: a Kafka that is not ours may be away, and is tried until it is there. */
  start(): Promise<void> {
    this.#member.start().catch((error: unknown) => {
      this.#options.log.warn({ err: error, topic: this.#options.topic }, "The door's Kafka is unavailable; retrying.");
      this.#member.renew();
    });
    return Promise.resolve();
  }

  /** What is being taken is taken and committed; what waits is left to the next start. */
  async stop(): Promise<void> {
    this.#member.halt();
    this.#isStopping = true;
    this.#giveUp.abort();
    await this.#batch.catch(() => undefined);
    await withTimeout(LEAVE_MS, this.#member.leave()).catch((error: unknown) => {
      this.#options.log.debug({ err: error }, 'The group could not be left in time.');
    });
  }

  async #take({ batch, resolveOffset, heartbeat, commitOffsetsIfNecessary: commit }: EachBatchPayload): Promise<void> {
    const { door, topic, metrics } = this.#options;
    const { partition, messages } = batch;
    const lags = this.#lags;
    const isCurrent = (): boolean => lags === this.#lags;
    for (const group of groupsOf(messages)) {
      if (!isCurrent() || this.#isStopping) return;
      const next = Number(group.at(-1)?.offset) + 1;
      const { isWhole, failure } = await this.#beating(heartbeat, async (giveUp) => {
        if (!(await this.#intake.take(group, `${topic}/${String(partition)}`, giveUp))) return false;
        metrics.records.inc({ door: door.name, topic }, group.length);
        return this.#commit({ partition, offset: next, metadata: '', commit, isCurrent }, giveUp);
      });
      if (isWhole) {
        resolveOffset(String(next - 1));
        lags.set(partition, Math.max(Number(batch.highWatermark) - next, 0));
        this.#showLag();
      }
      if (failure !== null) throw failure;
    }
    // the last offsets of a batch may be none of a record
    if (isCurrent() && !this.#isStopping) resolveOffset(batch.lastOffset());
  }

  /** Commits, again and again where Kafka does not answer; what is on the log is never taken again for that. False where it was given up. */
  async #commit(group: GroupCommit, giveUp: AbortSignal): Promise<boolean> {
    do {
      try {
        await this.#commits.commit(group);
        return true;
      } catch (error) {
        this.#options.log.debug({ err: error, partition: group.partition }, 'A commit failed.');
        await waitToRetry(0, giveUp);
      }
    } while (group.isCurrent() && !giveUp.aborted);
    return false;
  }

  /** Does the work while the group is told that this member lives. Where the group says that it does not, what waits is given up. */
  async #beating(
    heartbeat: () => Promise<void>,
    work: (giveUp: AbortSignal) => Promise<boolean>,
  ): Promise<{ readonly isWhole: boolean; readonly failure: Error | null }> {
    const done = new AbortController();
    const giveUp = new AbortController();
    this.#giveUp = giveUp;
    const working = work(giveUp.signal).finally(() => done.abort());
    while (!done.signal.aborted) {
      await sleep(BEAT_MS, undefined, { signal: done.signal }).catch(() => undefined);
      try {
        await heartbeat();
      } catch (error) {
        giveUp.abort();
        return { isWhole: await working, failure: error instanceof Error ? error : new Error(String(error)) };
      }
    }
    return { isWhole: await working, failure: null };
  }

  #forget(): void {
    this.#lags = new Map();
    this.#showLag();
  }

  #showLag(): void {
    const { door, topic, metrics } = this.#options;
    let lag = 0;
    for (const one of this.#lags.values()) lag += one;
    metrics.lag.set({ door: door.name, topic }, lag);
  }
}

/** What a library says, as part of a sentence. */
const oneLine = (text: string): string => text.replace(/\s+/g, ' ').replace(/\.$/, '').slice(0, MOST_SHOWN);

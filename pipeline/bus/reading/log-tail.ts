import type { Kafka, KafkaMessage } from 'kafkajs';
import type { Logger } from 'pino';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FetchedRecords } from './fetch-answer.ts';
import { answered, fetchOfTenants, offsetsOf, type Cluster } from './fetch-cluster.ts';
import { clusterOf } from '../connection/kafkajs-cluster.ts';
import type { WantsTenant } from './tenant-records.ts';

export type LogTailOptions = {
  readonly kafka: Kafka;
  readonly log: Logger;
  readonly topic: string;
  /** Called for each record: those of other tenants are not given. Without it all are. */
  readonly wants?: WantsTenant;
  /** Takes records of a partition, in the order of their offsets. */
  readonly take: (partition: number, messages: readonly KafkaMessage[]) => void;
  /** Called after each answer of Kafka with records, when those that are wanted were taken. */
  readonly onTaken?: () => void;
  /** Called for offsets (from, up to but not including `to`) that the log no longer has, or has lost in a truncation: `to` is smaller. */
  readonly onGap: (partition: number, from: number, to: number) => void;
  /** A clock that does not go back. Milliseconds. */
  readonly clock?: () => number;
};

/** How long one answer of Kafka may take; how long a broker waits for a record where it has none. Milliseconds. */
const [DEADLINE_MS, WAIT_MS] = [30_000, 500];
/** Of one partition, and of all that are fetched at once. */
const [PARTITION_BYTES, FETCH_BYTES] = [1024 * 1024, 4 * 1024 * 1024];
/**
 * Where records come more often than this (milliseconds) and none is wanted, the broker collects them this long, unless many come before:
 * a fetch costs the same for one record and for a hundred. What is wanted comes as much later, and then at once again.
 */
const COLLECT_MS = 75;
const COLLECTING = { maxWaitTime: COLLECT_MS, minBytes: 512 * 1024 };
const AT_ONCE = { maxWaitTime: WAIT_MS, minBytes: 1 };
/** Pauses before it is tried again; the last one is kept. Milliseconds. */
const PAUSES_MS = [50, 100, 250, 500, 1000];
/** How often it is looked whether the topic has got more partitions. Milliseconds. */
const METADATA_MS = 30_000;

/**
 * Follows all partitions of a topic from their ends on, without a consumer group: each reader gets everything, nothing is committed, and it
 * is ready as soon as Kafka has answered where the log ends. A broker answers as soon as it has a record, a little later where others'
 * records come all the time. What fails is tried again, for as long
 * as it takes; nothing is read twice, but for what `rewind` requests.
 */
export class LogTail {
  readonly #options: LogTailOptions;
  readonly #clock: () => number;
  readonly #stop = new AbortController();
  /** The offset that comes next, of each partition. */
  readonly #next = new Map<number, number>();
  /** How often partitions were set back, or more was wanted: an answer from before is not taken. */
  #rewinds = 0;
  #isKnown = false;
  #cluster: Cluster | null = null;
  readonly #known = Promise.withResolvers<void>();
  #loop: Promise<void> | null = null;

  constructor(options: LogTailOptions) {
    this.#options = options;
    this.#clock = options.clock ?? ((): number => performance.now());
  }

  /** Begins; resolves when it is known from where on it reads. */
  async start(): Promise<void> {
    this.#loop ??= this.#run();
    await this.#known.promise;
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('The reader was stopped.'));
    await this.#loop;
  }

  /** The offset that comes next, of each partition. */
  get next(): ReadonlyMap<number, number> {
    return this.#next;
  }

  /** Reads on from these offsets, where they are earlier than those that come next. */
  rewind(offsets: ReadonlyMap<number, number>): void {
    for (const [partition, offset] of offsets) {
      if (offset >= (this.#next.get(partition) ?? (this.#isKnown ? -1 : Infinity))) continue;
      this.#next.set(partition, offset);
      this.#rewinds += 1;
    }
  }

  /** Where the log ends now, of each partition. Rejects where Kafka does not answer. */
  async ends(): Promise<ReadonlyMap<number, number>> {
    const cluster = this.#cluster;
    if (cluster === null) throw new Error('Kafka is not connected.');
    return this.#answer(offsetsOf(cluster, this.#options.topic, partitionsOf(cluster, this.#options.topic), 'end'));
  }

  /** Does not take the answer that is under way: more is wanted from now on. */
  fetchAgain(): void {
    this.#rewinds += 1;
  }

  async #run(): Promise<void> {
    const { log, topic } = this.#options;
    const { signal } = this.#stop;
    for (let failures = 0; ;) {
      const cluster = clusterOf(this.#options.kafka) as Cluster;
      try {
        await this.#follow(cluster);
        failures = 0;
      } catch (error) {
        if (this.#isStopped()) return;
        log.warn({ err: error, topic }, 'The live reader lost Kafka; reconnecting.');
        await sleep(PAUSES_MS[Math.min(failures++, PAUSES_MS.length - 1)], undefined, { signal }).catch(() => undefined);
      } finally {
        this.#cluster = null;
        cluster.disconnect().catch(() => undefined);
      }
    }
  }

  /** Reads until something fails, or the topic has other partitions than it had. */
  async #follow(cluster: Cluster): Promise<void> {
    const { topic } = this.#options;
    await this.#answer(cluster.connect());
    await this.#answer(cluster.addTargetTopic(topic));
    this.#cluster = cluster;
    const partitions = partitionsOf(cluster, topic);
    await this.#bound(cluster, partitions);
    const round = new AbortController();
    const leaders = Object.entries(cluster.findLeaderForPartitions(topic, partitions));
    const led = leaders.flatMap(([, own]) => own);
    if (led.length < partitions.length) throw new Error('Some partitions have no leader.');
    const ended = await Promise.race(
      [
        ...leaders.map(([nodeId, own]) => this.#readFrom(cluster, nodeId, own, round.signal)),
        this.#watch(cluster, partitions.length, round.signal),
      ].map((reading) =>
        reading.then(
          () => null,
          (error: unknown) => error,
        ),
      ),
    );
    round.abort();
    if (ended !== null) throw ended as Error;
  }

  /** Where what is not known yet ends, and whether what is known is still there. A partition that has come later is read from its beginning. */
  async #bound(cluster: Cluster, partitions: readonly number[]): Promise<void> {
    const { topic, onGap } = this.#options;
    const [lows, ends] = await Promise.all(
      (['first', 'end'] as const).map((where) => this.#answer(offsetsOf(cluster, topic, partitions, where))),
    );
    for (const partition of partitions) {
      const [low, end] = [lows?.get(partition), ends?.get(partition)];
      if (low === undefined || end === undefined) throw new Error(`Kafka did not report the end offset of partition ${String(partition)}.`);
      const next = this.#next.get(partition) ?? (this.#isKnown ? low : end);
      const found = Math.min(Math.max(next, low), end);
      if (found !== next) onGap(partition, next, found);
      this.#next.set(partition, found);
    }
    this.#isKnown = true;
    this.#known.resolve();
  }

  async #readFrom(cluster: Cluster, nodeId: string, partitions: readonly number[], round: AbortSignal): Promise<void> {
    const { topic, wants = null } = this.#options;
    const broker = await this.#answer(cluster.findBroker({ nodeId }));
    let collects = false;
    while (!this.#isStopped() && !isAborted(round)) {
      const wanted = partitions.map((partition) => ({
        partition,
        fetchOffset: this.#next.get(partition) ?? 0,
        maxBytes: PARTITION_BYTES,
      }));
      const rewinds = this.#rewinds;
      const waits = collects ? COLLECTING : AT_ONCE;
      const request = { ...waits, maxBytes: FETCH_BYTES, topics: [{ topic, partitions: wanted }] };
      const requestedAt = this.#clock();
      const fetched: readonly FetchedRecords[] = await this.#answer(fetchOfTenants(broker, request, wants));
      if (isAborted(round) || rewinds !== this.#rewinds) continue;
      const taken = this.#take(fetched);
      const isUnwanted = taken === 0 && fetched.some(({ bytes }) => bytes > 0);
      collects = isUnwanted && (collects || this.#clock() - requestedAt < COLLECT_MS);
    }
  }

  /** Gives how many records were taken. */
  #take(fetched: readonly FetchedRecords[]): number {
    const { take, onTaken } = this.#options;
    let taken = 0;
    for (const { partition, messages, next: end } of fetched) {
      if (end === null) continue;
      const next = this.#next.get(partition) ?? 0;
      const own = messages.filter(({ offset }) => Number(offset) >= next);
      this.#next.set(partition, Math.max(next, end));
      if (own.length > 0) take(partition, own);
      taken += own.length;
    }
    if (fetched.some(({ bytes }) => bytes > 0)) onTaken?.();
    return taken;
  }

  /** Ends when the topic has got more partitions. */
  async #watch(cluster: Cluster, count: number, round: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([round, this.#stop.signal]);
    for (;;) {
      await sleep(METADATA_MS, undefined, { signal, ref: false });
      await this.#answer(cluster.refreshMetadata());
      if (partitionsOf(cluster, this.#options.topic).length !== count) return;
    }
  }

  #isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  #answer<Answer>(request: Promise<Answer>): Promise<Answer> {
    return answered(request, DEADLINE_MS, this.#stop.signal);
  }
}

const isAborted = (signal: AbortSignal): boolean => signal.aborted;

const partitionsOf = (cluster: Cluster, topic: string): number[] =>
  cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId);

import type { Kafka, KafkaMessage } from 'kafkajs';
import type { Logger } from 'pino';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bounds } from './group-positions.ts';
import { answered, nextAfter, offsetsOf, type Cluster, type Fetched } from './fetch-cluster.ts';
import { clusterOf } from '../connection/kafkajs-cluster.ts';

export type PartitionFetchOptions = {
  readonly kafka: Kafka;
  readonly log: Logger;
  readonly topic: string;
  readonly partitions: readonly number[];
  /** Takes the records of a partition, in the order of their offsets, each once. */
  readonly take: (partition: number, messages: readonly KafkaMessage[]) => void;
  /** Ends the reading, which rejects then. */
  readonly signal: AbortSignal;
};

/** How long one answer of Kafka may take; how long a broker waits for a record where it has none. Milliseconds. */
const [DEADLINE_MS, WAIT_MS] = [30_000, 100];
/** Pauses before it is tried again; the last one is kept. Milliseconds. */
const PAUSES_MS = [100, 250, 500, 1000, 2000];
/** Of one partition, and of all that are fetched at once: no batch of this service is larger. */
const [PARTITION_BYTES, FETCH_BYTES] = [4 * 1024 * 1024, 8 * 1024 * 1024];

/**
 * Reads partitions from their beginnings to their ends as they are now, without a consumer group, whose join takes longer than most of what
 * is read so. What Kafka does not answer is requested again, without a limit; only the signal ends it.
 */
export async function fetchPartitions(options: PartitionFetchOptions): Promise<void> {
  const reading = new Reading(options);
  for (let attempt = 0; !(await reading.attempt()); attempt++)
    await sleep(PAUSES_MS[Math.min(attempt, PAUSES_MS.length - 1)], undefined, { signal: options.signal });
}

class Reading {
  readonly #options: PartitionFetchOptions;
  /** The offset that comes next, and the end, of each partition that is not read yet. */
  readonly #open: Map<number, { next: number; end: number }>;

  constructor(options: PartitionFetchOptions) {
    this.#options = options;
    this.#open = new Map(options.partitions.map((partition) => [partition, { next: 0, end: Infinity }]));
  }

  /** Reads on; true when all is read. */
  async attempt(): Promise<boolean> {
    const { kafka, log, topic, signal } = this.#options;
    signal.throwIfAborted();
    const cluster = clusterOf(kafka) as Cluster;
    try {
      await this.#answer(cluster.connect());
      await this.#answer(cluster.addTargetTopic(topic));
      await this.#bound(cluster);
      const leaders = Object.entries(cluster.findLeaderForPartitions(topic, [...this.#open.keys()]));
      const read = await Promise.allSettled(leaders.map(([nodeId, partitions]) => this.#readFrom(cluster, nodeId, partitions)));
      for (const one of read) if (one.status === 'rejected') throw one.reason;
      return this.#open.size === 0;
    } catch (error) {
      signal.throwIfAborted();
      log.warn({ err: error, topic }, 'A fetch from Kafka failed; retrying.');
      return false;
    } finally {
      cluster.disconnect().catch(() => undefined);
    }
  }

  /** Where what is left begins and ends: where it ended at first, unless the log has lost its end since. */
  async #bound(cluster: Cluster): Promise<void> {
    const bounds = await this.#boundsOf(cluster);
    for (const [partition, at] of this.#open) {
      const found = bounds.get(partition);
      if (found === undefined) throw new Error(`Kafka did not report the end offset of partition ${String(partition)}.`);
      at.next = Math.max(at.next, found.low);
      at.end = Math.min(at.end, found.end);
      if (at.next >= at.end) this.#open.delete(partition);
    }
  }

  async #boundsOf(cluster: Cluster): Promise<ReadonlyMap<number, Bounds>> {
    const query = (where: 'first' | 'end'): Promise<Map<number, number>> =>
      this.#answer(offsetsOf(cluster, this.#options.topic, [...this.#open.keys()], where));
    const [lows, ends] = await Promise.all([query('first'), query('end')]);
    return new Map([...ends].map(([partition, end]) => [partition, { low: lows.get(partition) ?? 0, end }]));
  }

  /** Reads what a broker leads. */
  async #readFrom(cluster: Cluster, nodeId: string, partitions: readonly number[]): Promise<void> {
    const { topic } = this.#options;
    const broker = await this.#answer(cluster.findBroker({ nodeId }));
    for (;;) {
      const wanted = partitions.flatMap((partition) => {
        const at = this.#open.get(partition);
        return at === undefined ? [] : [{ partition, fetchOffset: at.next, maxBytes: PARTITION_BYTES }];
      });
      if (wanted.length === 0) return;
      const request = { maxWaitTime: WAIT_MS, minBytes: 1, maxBytes: FETCH_BYTES, topics: [{ topic, partitions: wanted }] };
      const { responses } = await this.#answer(broker.fetch(request));
      this.#take(responses.flatMap((response) => response.partitions));
    }
  }

  /** What Kafka answers, in time and before the signal comes. */
  #answer<Answer>(request: Promise<Answer>): Promise<Answer> {
    return answered(request, DEADLINE_MS, this.#options.signal);
  }

  #take(fetched: readonly Fetched[]): void {
    const isNothing = fetched.every(({ messages }) => messages.length === 0);
    for (const { partition, messages, highWatermark } of fetched) {
      const at = this.#open.get(partition);
      if (at === undefined) continue;
      const { next, end } = at;
      const own = messages.filter(({ offset }) => Number(offset) >= next && Number(offset) < end);
      for (const message of messages) at.next = Math.max(at.next, nextAfter(message));
      // a fetch brings a batch at least, if there is any: what is missing up to the end, compaction has removed
      if (at.next >= end || (isNothing && Number(highWatermark) >= end)) this.#open.delete(partition);
      if (own.length > 0) this.#options.take(partition, own);
    }
  }
}

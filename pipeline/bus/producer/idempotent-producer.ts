import type { Logger } from 'pino';
import type { Connect } from './broker-connection.ts';
import { brokerError } from '../connection/kafkajs-protocol.ts';
import { BrokerSender, type RequestOutcome } from './broker-sender.ts';
import { ClusterView } from './cluster-view.ts';
import { PartitionQueue, type Acknowledged } from './partition-queue.ts';
import type { PendingRecord } from './pending-record.ts';
import type { OnSent } from './sent-record.ts';

export type IdempotentProducerOptions = {
  readonly connect: Connect;
  readonly log: Logger;
  readonly topic: string;
  readonly onSent?: OnSent;
  /** After so long a batch that is not acknowledged is given up. Milliseconds. */
  readonly deadlineMs?: number;
  /** The first pause before a repeat; later ones are longer, up to 16 times. Milliseconds. */
  readonly pauseMs?: number;
  /** Between the beginnings of two requests to a broker; none by default. Milliseconds. */
  readonly gapMs?: number;
};

/** No request waits for a batch any more by then: a request waits 5 s. Milliseconds. */
const DEADLINE_MS = 10_000;
const PAUSE_MS = 20;
/** How long the topic may be looked for at the start, and how often. Milliseconds. */
const START_MS = 60_000;
const START_AGAIN_MS = 250;
/** How often it is looked for what has waited too long, and from which age on something may have. Milliseconds. */
const SWEEP_MS = 250;
const SWEEP_FROM_MS = 1000;

/**
 * Sends records to all partitions of a topic, each stored at most once, and in the order of its partition. A batch is sent again with the same
 * bytes, to the broker that leads its partition then, until it is acknowledged or finally failed (docs/adr/0002-producer-lanes.md).
 */
export class IdempotentProducer {
  readonly #options: Required<IdempotentProducerOptions>;
  readonly #view: ClusterView;
  readonly #senders = new Map<number, BrokerSender>();
  #queues: readonly PartitionQueue[] = [];
  /** Have something to send, and lack a leader or a producer id. */
  readonly #stranded = new Set<PartitionQueue>();
  /** All that is not answered, the oldest first. */
  readonly #open = new Set<PendingRecord>();
  /** When the last batch of a partition failed, where none was acknowledged since. */
  readonly #failures = new Map<number, number>();
  #looking = false;
  #look: { readonly timer: NodeJS.Timeout; readonly at: number } | null = null;
  #sweeper: NodeJS.Timeout | undefined;
  #drained: (() => void) | null = null;
  /** Bytes waiting or in flight. */
  pendingBytes = 0;

  constructor(options: IdempotentProducerOptions) {
    this.#options = { onSent: () => undefined, deadlineMs: DEADLINE_MS, pauseMs: PAUSE_MS, gapMs: 0, ...options };
    this.#view = new ClusterView(options.connect, options.topic);
  }

  /** Resolves once it is known how many partitions the topic has, and who leads them. */
  async start(): Promise<void> {
    const until = performance.now() + START_MS;
    for (;;) {
      try {
        await this.#view.refresh();
        break;
      } catch (error) {
        if (performance.now() > until) throw error;
        await new Promise((resolve) => setTimeout(resolve, START_AGAIN_MS));
      }
    }
    const released = (records: readonly PendingRecord[], bytes: number): void => {
      this.pendingBytes -= bytes;
      for (const record of records) this.#open.delete(record);
      if (this.#open.size === 0) this.#drained?.();
    };
    this.#queues = Array.from({ length: this.#view.partitions }, (_, partition) => {
      const queue = new PartitionQueue(partition, released);
      queue.leader = this.#view.leaderOf(partition);
      return queue;
    });
    this.#sweeper = setInterval(() => this.#sweep(), Math.min(SWEEP_MS, this.#options.deadlineMs / 4)).unref();
  }

  /** How many partitions the topic has. */
  get partitions(): number {
    return this.#queues.length;
  }

  /** True where the last batch of a partition failed, and not long ago. */
  get failing(): boolean {
    if (this.#failures.size === 0) return false;
    const since = performance.now() - this.#options.deadlineMs;
    for (const [partition, at] of this.#failures) if (at < since) this.#failures.delete(partition);
    return this.#failures.size > 0;
  }

  /** Age in milliseconds of the oldest record that is not acknowledged. */
  oldestAge(now: number): number {
    for (const record of this.#open) return now - record.enqueuedAt;
    return 0;
  }

  enqueue(record: PendingRecord): void {
    const queue = this.#queues[record.partition];
    if (queue === undefined) throw new Error(`BUG: There is no partition ${String(record.partition)}.`);
    this.#open.add(record);
    this.pendingBytes += record.size;
    const isFirst = queue.isEmpty;
    queue.enqueue(record);
    if (isFirst) this.#place(queue);
  }

  /** A record that waits here for this partition has grown by `bytes`. */
  grew(partition: number, bytes: number): void {
    this.pendingBytes += bytes;
    const queue = this.#queues[partition];
    if (queue !== undefined) queue.pendingBytes += bytes;
  }

  /** What waits for a partition: bytes, and the age of the oldest record in milliseconds. */
  pendingOf(partition: number, now: number): { readonly bytes: number; readonly oldestMs: number } {
    const queue = this.#queues[partition];
    return { bytes: queue?.pendingBytes ?? 0, oldestMs: now - (queue?.oldestAt ?? now) };
  }

  /** Sends what is queued, as far as Kafka takes it in time, then disconnects. */
  async stop(): Promise<void> {
    if (this.#open.size > 0) await new Promise<void>((resolve) => (this.#drained = resolve));
    clearInterval(this.#sweeper);
    clearTimeout(this.#look?.timer);
    for (const sender of this.#senders.values()) sender.close();
  }

  /** Gives a queue with something to send to the sender of its leader. */
  #place(queue: PartitionQueue): void {
    if (queue.inFlight || queue.isEmpty) return;
    if (queue.identity === null && this.#view.identity !== null) queue.identify(this.#view.identity);
    if (queue.leader !== null && queue.identity !== null) {
      this.#sender(queue.leader).add(queue);
      return;
    }
    this.#stranded.add(queue);
    this.#lookAt(queue.retryAt);
  }

  #sender(broker: number): BrokerSender {
    const existing = this.#senders.get(broker);
    if (existing !== undefined) return existing;
    const { topic, connect, deadlineMs, gapMs } = this.#options;
    const sender = new BrokerSender({
      topic,
      connect: () => {
        const address = this.#view.addressOf(broker);
        return address === null ? Promise.reject(new Error('The broker is not in the metadata of the cluster.')) : connect(address);
      },
      silenceMs: deadlineMs / 2,
      gapMs,
      onOutcome: (outcome) => this.#settle(outcome),
      onUnreachable: (queues, error) => {
        this.#options.log.debug({ err: error, broker }, 'A broker is unreachable.');
        for (const queue of queues) this.#repeat(queue, error);
      },
    });
    this.#senders.set(broker, sender);
    return sender;
  }

  #settle({ queues, answers, failure, isSilent }: RequestOutcome): void {
    const acknowledged: Acknowledged[] = [];
    for (const queue of queues) {
      const answer = answers.get(queue.partition);
      if (answer?.errorCode === 0 && answer.baseOffset >= 0) {
        acknowledged.push(queue.acknowledge(answer));
        this.#failures.delete(queue.partition);
        continue;
      }
      const error = answer === undefined ? null : brokerError(answer.errorCode);
      if (error === null) this.#repeat(queue, failure ?? new Error('Kafka did not answer for the partition.'), !isSilent);
      else if (error.retriable) this.#repeat(queue, error);
      else this.#fail(queue, error);
    }
    const error = this.#report(acknowledged);
    for (const { done } of acknowledged) done(error);
    for (const queue of queues) this.#place(queue);
  }

  #report(acknowledged: readonly Acknowledged[]): Error | null {
    if (acknowledged.length === 0) return null;
    try {
      this.#options.onSent(acknowledged.flatMap(({ sent }) => sent));
      return null;
    } catch (error) {
      this.#options.log.error({ err: error }, 'BUG: sent entries could not be counted.');
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  /** What the queue has to send is sent again, unless it has had its time. `isLost`: with its connection. */
  #repeat(queue: PartitionQueue, error: Error, isLost = false): void {
    const now = performance.now();
    queue.postpone(now, this.#options.pauseMs, isLost);
    if (queue.isOverdue(now, this.#options.deadlineMs)) this.#fail(queue, error);
    else this.#options.log.debug({ err: error, partition: queue.partition }, 'A Kafka batch is retried.');
    this.#place(queue);
  }

  #fail(queue: PartitionQueue, error: Error): void {
    const { partition, identity } = queue;
    this.#options.log.warn({ err: error, partition }, 'A Kafka batch failed; its producer id is discarded.');
    this.#failures.set(partition, performance.now());
    this.#view.retire(identity);
    queue.fail(error);
  }

  /** Looks then for what stranded queues lack. */
  #lookAt(at: number): void {
    if (this.#looking || (this.#look !== null && this.#look.at <= at)) return;
    clearTimeout(this.#look?.timer);
    const timer = setTimeout(
      () => {
        this.#look = null;
        void this.#lookNow();
      },
      Math.max(at - performance.now(), 0),
    );
    this.#look = { timer, at };
  }

  async #lookNow(): Promise<void> {
    this.#looking = true;
    const startedAt = performance.now();
    let failed = false;
    try {
      await this.#view.refresh();
    } catch (error) {
      failed = true;
      this.#options.log.debug({ err: error }, 'No broker returned the partition leaders.');
    }
    this.#looking = false;
    const now = performance.now();
    for (const queue of [...this.#stranded]) {
      // an answer to a question from before a batch failed may be what made it fail
      if (queue.retryAt > startedAt) continue;
      this.#stranded.delete(queue);
      queue.leader = failed ? null : this.#view.leaderOf(queue.partition);
      if (queue.leader === null) queue.postpone(now, this.#options.pauseMs);
      this.#place(queue);
    }
    const [next] = [...this.#stranded].map(({ retryAt }) => retryAt).sort((a, b) => a - b);
    if (next !== undefined) this.#lookAt(next);
  }

  /** Drops what no request waits for any more, and what has had its time. */
  #sweep(): void {
    const now = performance.now();
    const { deadlineMs } = this.#options;
    if (this.oldestAge(now) < Math.min(SWEEP_FROM_MS, deadlineMs)) return;
    for (const queue of this.#queues.filter(({ isEmpty }) => !isEmpty)) {
      if (queue.sweep(now, deadlineMs)) this.#failures.set(queue.partition, now);
      const isOverdue = queue.isOverdue(now, deadlineMs);
      if (isOverdue) this.#fail(queue, new Error('Kafka did not take the batch in time.'));
      if (!isOverdue && !queue.isEmpty) continue;
      this.#stranded.delete(queue);
      if (queue.leader !== null) this.#senders.get(queue.leader)?.remove(queue);
      this.#place(queue);
    }
  }
}

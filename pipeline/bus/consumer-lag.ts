import type { Admin, Kafka } from 'kafkajs';
import { repeat } from '../core/repeat.ts';
import type { Service } from '../core/service.ts';
import { withTimeout } from './with-timeout.ts';

/** Milliseconds. */
const DEADLINE_MS = 20_000;

export type ConsumerLagOptions = {
  readonly kafka: Kafka;
  readonly topic: string;
  readonly groupId: string;
  /** The partitions to look at; asked each time. */
  readonly partitions: () => readonly number[];
  readonly onLag: (partition: number, lag: number) => void;
  /** Told of a partition whose lag was told, and which is looked at no more. */
  readonly onGone: (partition: number) => void;
  readonly everyMs?: number;
};

/** Tells every 5 s how many records of a partition the group has not committed. Asked of Kafka, so that a partition that stands still shows too. */
export class ConsumerLag implements Service {
  readonly name: string;
  readonly #options: ConsumerLagOptions;
  readonly #stop = new AbortController();
  /** The partitions whose lag was told. */
  readonly #told = new Set<number>();
  #admin: Admin | null = null;
  #running: Promise<void> | null = null;

  constructor(options: ConsumerLagOptions) {
    this.#options = options;
    this.name = `lag of ${options.groupId}`;
  }

  start(): Promise<void> {
    this.#running = repeat(this.#options.everyMs ?? 5000, this.#stop.signal, () => this.#look());
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.#disconnect();
  }

  async #look(): Promise<void> {
    this.#forget();
    if (this.#options.partitions().length === 0 || this.#stop.signal.aborted) return;
    try {
      await withTimeout(DEADLINE_MS, this.#ask());
    } catch {
      // Kafka is away, which others say; it is asked again, without waiting for what may not answer
      void this.#disconnect();
    }
  }

  async #ask(): Promise<void> {
    const { kafka, topic, groupId, partitions, onLag } = this.#options;
    if (this.#admin === null) {
      const admin = kafka.admin();
      await admin.connect();
      this.#admin = admin;
    }
    const [[group], offsets] = await Promise.all([
      this.#admin.fetchOffsets({ groupId, topics: [topic] }),
      this.#admin.fetchTopicOffsets(topic),
    ]);
    const committed = new Map(group?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
    // of the partitions of now: they may have changed while Kafka was asked
    const wanted = new Set(partitions());
    for (const { partition, low, high } of offsets) {
      if (!wanted.has(partition)) continue;
      // a log that has lost its end may lie before what is committed
      onLag(partition, Math.max(0, Number(high) - Math.max(Number(low), committed.get(partition) ?? -1)));
      this.#told.add(partition);
    }
  }

  /** What moved to another process is told by that one. */
  #forget(): void {
    const wanted = new Set(this.#options.partitions());
    for (const partition of this.#told) {
      if (wanted.has(partition)) continue;
      this.#told.delete(partition);
      this.#options.onGone(partition);
    }
  }

  async #disconnect(): Promise<void> {
    const admin = this.#admin;
    this.#admin = null;
    await admin?.disconnect().catch(() => undefined);
  }
}

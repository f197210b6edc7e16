import type { Admin, Kafka } from 'kafkajs';
import { repeat } from '../core/repeat.ts';
import type { Service } from '../core/service.ts';

export type ConsumerLagOptions = {
  readonly kafka: Kafka;
  readonly topic: string;
  readonly groupId: string;
  /** The partitions to look at; asked each time. */
  readonly partitions: () => readonly number[];
  readonly onLag: (partition: number, lag: number) => void;
  readonly everyMs?: number;
};

/** Tells every 5 s how many records of a partition the group has not committed. Asked of Kafka, so that a partition that stands still shows too. */
export class ConsumerLag implements Service {
  readonly name: string;
  readonly #options: ConsumerLagOptions;
  readonly #stop = new AbortController();
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
    const { kafka, topic, groupId, partitions, onLag } = this.#options;
    const wanted = new Set(partitions());
    if (wanted.size === 0 || this.#stop.signal.aborted) return;
    try {
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
      for (const { partition, low, high } of offsets) {
        if (wanted.has(partition)) onLag(partition, Number(high) - Math.max(Number(low), committed.get(partition) ?? -1));
      }
    } catch {
      // Kafka is away, which others say; it is asked again
      await this.#disconnect();
    }
  }

  async #disconnect(): Promise<void> {
    const admin = this.#admin;
    this.#admin = null;
    await admin?.disconnect().catch(() => undefined);
  }
}

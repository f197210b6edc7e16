import type { Kafka } from 'kafkajs';
import { repeat } from '../../core/repeat.ts';
import type { Service } from '../../core/service.ts';
import { AdminConnection } from '../connection/admin-connection.ts';
import { boundsOf, committedBy } from '../reading/group-positions.ts';

/** Milliseconds. */
const DEADLINE_MS = 20_000;

export type ConsumerLagOptions = {
  readonly kafka: Kafka;
  readonly topic: string;
  readonly groupId: string;
  /** The partitions to look at; called each time. */
  readonly partitions: () => readonly number[];
  readonly onLag: (partition: number, lag: number) => void;
  /** Called for a partition whose lag was reported, and which is no longer watched. */
  readonly onDeleted: (partition: number) => void;
  readonly everyMs?: number;
};

/** Reports every 5 s how many records of a partition the group has not committed. It queries Kafka: a halted partition shows too. */
export class ConsumerLag implements Service {
  readonly name: string;
  readonly #options: ConsumerLagOptions;
  readonly #stop = new AbortController();
  /** The partitions whose lag was reported. */
  readonly #reported = new Set<number>();
  readonly #connection: AdminConnection;
  #running: Promise<void> | null = null;

  constructor(options: ConsumerLagOptions) {
    this.#options = options;
    this.#connection = new AdminConnection(options.kafka, DEADLINE_MS);
    this.name = `lag of ${options.groupId}`;
  }

  start(): Promise<void> {
    this.#running = repeat(this.#options.everyMs ?? 5000, this.#stop.signal, () => this.#look());
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.#connection.disconnect();
  }

  async #look(): Promise<void> {
    this.#forget();
    if (this.#options.partitions().length === 0 || this.#stop.signal.aborted) return;
    try {
      await this.#query();
    } catch {
      // Kafka is unavailable, which others report; it is queried again, over a new connection
    }
  }

  async #query(): Promise<void> {
    const { topic, groupId, partitions, onLag } = this.#options;
    const [committed, bounds] = await this.#connection.query((admin) =>
      Promise.all([committedBy(admin, groupId, topic), boundsOf(admin, topic)]),
    );
    // of the partitions of now: they may have changed meanwhile
    const wanted = new Set(partitions());
    for (const [partition, { low, end }] of bounds) {
      if (!wanted.has(partition)) continue;
      // a log that has lost its end may lie before what is committed
      onLag(partition, Math.max(0, end - Math.max(low, committed.get(partition)?.offset ?? -1)));
      this.#reported.add(partition);
    }
  }

  /** Another process reports what moved to it. */
  #forget(): void {
    const wanted = new Set(this.#options.partitions());
    for (const partition of this.#reported) {
      if (wanted.has(partition)) continue;
      this.#reported.delete(partition);
      this.#options.onDeleted(partition);
    }
  }
}

import type { Admin, Kafka } from 'kafkajs';
import { AdminConnection } from '../connection/admin-connection.ts';
import type { OffsetQueries } from '../reading/group-positions.ts';

/**
 * Queries of Kafka by many partitions at once, as after a rebalance: over one connection, and the same query is sent once for all that
 * request it in the same turn of the event loop. An earlier one does not count as an answer: Kafka's state may have changed since.
 */
export class SharedQueries implements OffsetQueries {
  readonly #kafka: Kafka;
  readonly #deadlineMs: number;
  /** Queries that were requested and not sent yet. */
  readonly #waiting = new Map<string, Promise<unknown>>();
  #connection: AdminConnection | null = null;
  #users = 0;

  /** `deadlineMs`: how long connecting and a query may take together. */
  constructor(kafka: Kafka, deadlineMs: number) {
    this.#kafka = kafka;
    this.#deadlineMs = deadlineMs;
  }

  /** The connection is closed with the last use, and with one that fails: it may be to a broker that was cut off. */
  async use<Answer>(act: (queries: OffsetQueries) => Promise<Answer>): Promise<Answer> {
    this.#users += 1;
    try {
      return await act(this);
    } catch (error) {
      this.#disconnect();
      throw error;
    } finally {
      this.#users -= 1;
      if (this.#users === 0) this.#disconnect();
    }
  }

  fetchOffsets(options: Parameters<Admin['fetchOffsets']>[0]): ReturnType<Admin['fetchOffsets']> {
    return this.#share(`committed ${JSON.stringify(options)}`, (admin) => admin.fetchOffsets(options));
  }

  fetchTopicOffsets(topic: string): ReturnType<Admin['fetchTopicOffsets']> {
    return this.#share(`bounds ${topic}`, (admin) => admin.fetchTopicOffsets(topic));
  }

  fetchTopicOffsetsByTimestamp(topic: string, timestamp?: number): ReturnType<Admin['fetchTopicOffsetsByTimestamp']> {
    return this.#share(`since ${String(timestamp)} ${topic}`, (admin) => admin.fetchTopicOffsetsByTimestamp(topic, timestamp));
  }

  #share<Answer>(key: string, query: (admin: Admin) => Promise<Answer>): Promise<Answer> {
    const waiting = this.#waiting.get(key) ?? this.#send(key, query);
    this.#waiting.set(key, waiting);
    return waiting as Promise<Answer>;
  }

  async #send<Answer>(key: string, query: (admin: Admin) => Promise<Answer>): Promise<Answer> {
    // the others of this turn of the event loop
    await new Promise((resolve) => setImmediate(resolve));
    this.#waiting.delete(key);
    this.#connection ??= new AdminConnection(this.#kafka, this.#deadlineMs);
    return this.#connection.query(query);
  }

  #disconnect(): void {
    void this.#connection?.disconnect();
    this.#connection = null;
  }
}

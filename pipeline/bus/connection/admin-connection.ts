import type { Admin, Kafka } from 'kafkajs';
import { withTimeout } from './with-timeout.ts';

const DISCONNECT_MS = 5000;

/** Queries of Kafka over a connection that is opened when it is first needed and discarded with a query that fails or is not answered in time. */
export class AdminConnection {
  readonly #kafka: Kafka;
  readonly #deadlineMs: number;
  #admin: Promise<Admin> | null = null;

  /** `deadlineMs`: how long connecting and the query may take together. */
  constructor(kafka: Kafka, deadlineMs: number) {
    this.#kafka = kafka;
    this.#deadlineMs = deadlineMs;
  }

  async query<Answer>(query: (admin: Admin) => Promise<Answer>): Promise<Answer> {
    try {
      return await withTimeout(this.#deadlineMs, this.#query(query));
    } catch (error) {
      // not waited for: it may be what does not answer
      void this.disconnect();
      throw error;
    }
  }

  /** The next query connects again. */
  async disconnect(): Promise<void> {
    const admin = this.#admin;
    this.#admin = null;
    // one that never connects is not waited for
    const disconnected = admin?.then((open) => open.disconnect()) ?? Promise.resolve();
    await withTimeout(DISCONNECT_MS, disconnected).catch(() => undefined);
  }

  async #query<Answer>(query: (admin: Admin) => Promise<Answer>): Promise<Answer> {
    if (this.#admin === null) {
      const admin = this.#kafka.admin();
      this.#admin = admin.connect().then(() => admin);
    }
    return query(await this.#admin);
  }
}

/** One query, over a connection of its own. */
export async function queryOnce<Answer>(kafka: Kafka, deadlineMs: number, query: (admin: Admin) => Promise<Answer>): Promise<Answer> {
  const connection = new AdminConnection(kafka, deadlineMs);
  try {
    return await connection.query(query);
  } finally {
    void connection.disconnect();
  }
}

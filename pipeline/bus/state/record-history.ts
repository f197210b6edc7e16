import type { Kafka } from 'kafkajs';
import type { Service } from '../../core/service.ts';
import { queryOnce } from '../connection/admin-connection.ts';
import { boundsOf, firstSince } from '../reading/group-positions.ts';
import { RenewableProducer } from '../producer/renewable-producer.ts';
import { readSpans } from '../reading/span-reader.ts';

const APPEND_DEADLINE_MS = 10_000;
/** Thrown to end a reading early. */
const ENOUGH = new Error('No more is wanted.');

/** A record of strings, and when it was appended, in milliseconds. */
export type HistoryRecord = { readonly key: string; readonly value: string; readonly at: number };

/** A topic of one partition that is read seldom, from some time on, and of which nothing is held in memory. */
export class RecordHistory implements Service {
  readonly name: string;
  readonly #kafka: Kafka;
  readonly #topic: string;
  readonly #producer: RenewableProducer;

  constructor({ kafka, topic }: { readonly kafka: Kafka; readonly topic: string }) {
    this.name = `history ${topic}`;
    this.#kafka = kafka;
    this.#topic = topic;
    this.#producer = new RenewableProducer(kafka, APPEND_DEADLINE_MS, { maxInFlightRequests: 1 });
  }

  /** It connects when there is something to write. */
  start(): Promise<void> {
    return Promise.resolve();
  }

  stop(): Promise<void> {
    return this.#producer.disconnect();
  }

  /** Resolves when the record is on the topic (acks=all). Where it rejects, it may be there. */
  async append(key: string, value: string): Promise<void> {
    await this.#producer.send({ topic: this.#topic, acks: -1, messages: [{ partition: 0, key, value }] });
  }

  /**
   * Gives the records appended since `from` (milliseconds), in their order, some at a time, until none is left or `take` returns false.
   * Resolves with false where it stopped early.
   */
  async read(from: number, take: (records: readonly HistoryRecord[]) => boolean): Promise<boolean> {
    const span = await queryOnce(this.#kafka, APPEND_DEADLINE_MS, async (admin) => {
      const [bounds, since] = await Promise.all([boundsOf(admin, this.#topic), firstSince(admin, this.#topic, from)]);
      const { low, end } = bounds.get(0) ?? { low: 0, end: 0 };
      return { from: Math.max(low, since.get(0) ?? 0), to: end };
    });
    try {
      await readSpans({
        ...{ kafka: this.#kafka, topic: this.#topic, spans: new Map([[0, span]]), groupPrefix: 'audit' },
        take: (_partition, messages) => {
          const records = messages.flatMap(({ key, value, timestamp }) =>
            key === null || value === null ? [] : [{ key: key.toString(), value: value.toString(), at: Number(timestamp) }],
          );
          return take(records) ? Promise.resolve() : Promise.reject(ENOUGH);
        },
      });
      return true;
    } catch (error) {
      if (error === ENOUGH) return false;
      throw error;
    }
  }
}

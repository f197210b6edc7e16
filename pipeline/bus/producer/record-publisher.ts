import type { Kafka } from 'kafkajs';
import type { Logger } from 'pino';
import { backpressure, type HttpError } from '../../core/errors.ts';
import type { Service } from '../../core/service.ts';
import { brokerConnections, type Connect } from './broker-connection.ts';
import { IdempotentProducer } from './idempotent-producer.ts';
import type { SharedRecord, Waiter } from './pending-record.ts';
import type { OnSent } from './sent-record.ts';

/** How long a request waits for Kafka's acknowledgement, whatever kafkajs does; and the bounds of what may wait. Milliseconds, bytes. */
const DEADLINE_MS = 5000;
const MAX_PENDING_BYTES = 64 * 1024 * 1024;
const MAX_OLDEST_MS = 2000;
/** One partition of several may have 1/`PARTITION_SHARE` of it, so that one whose leader hangs leaves the rest to the others. */
const PARTITION_SHARE = 2;

export type RecordPublisherOptions = {
  readonly kafka: Kafka;
  readonly log: Logger;
  readonly topic: string;
  /** Opens connections; by default those of the client. */
  readonly connect?: Connect;
  /** Called with the records that each answer acknowledges. */
  readonly onSent?: OnSent;
  /** How long a request waits; milliseconds. */
  readonly deadlineMs?: number;
  /** Between the beginnings of two requests to a broker; none by default. Milliseconds. */
  readonly gapMs?: number;
};

/** What a request is refused with whose time is over. */
export const tooLate = (): HttpError => backpressure('Kafka did not acknowledge the entries in time; the request may be sent again.');

/** Puts records on a topic, and resolves only when Kafka has them (acks=all). */
export class RecordPublisher implements Service {
  readonly name: string;
  readonly #options: RecordPublisherOptions;
  #producer: IdempotentProducer | null = null;
  #partitions = 0;

  constructor(options: RecordPublisherOptions) {
    this.#options = options;
    this.name = `publisher of ${options.topic}`;
  }

  async start(): Promise<void> {
    const { kafka, log, topic, onSent, gapMs = 0, connect = brokerConnections(kafka) } = this.#options;
    const producer = new IdempotentProducer({ connect, log, topic, gapMs, ...(onSent === undefined ? {} : { onSent }) });
    await producer.start();
    this.#partitions = producer.partitions;
    this.#producer = producer;
  }

  /** Sends what is queued first. */
  async stop(): Promise<void> {
    const producer = this.#producer;
    this.#producer = null;
    await producer?.stop();
  }

  /** How many partitions the topic has; known once it has started. */
  get partitions(): number {
    return this.#partitions;
  }

  /**
   * Throws HttpError 429 `backpressure` while more is waiting than may wait, in all or for one of these partitions: one whose leader hangs
   * refuses only what goes there.
   */
  admit(partitions: readonly number[]): void {
    const producer = this.#producer;
    if (producer === null || producer.pendingBytes > MAX_PENDING_BYTES) throw backpressure();
    const now = performance.now();
    const share = producer.partitions > 1 ? PARTITION_SHARE : 1;
    for (const partition of partitions) {
      const { bytes, oldestMs } = producer.pendingOf(partition, now);
      if (bytes > MAX_PENDING_BYTES / share || oldestMs > MAX_OLDEST_MS) throw backpressure();
    }
  }

  /** True while it runs and, by the outcome of its last sends, Kafka accepts what it sends. */
  get ready(): boolean {
    const producer = this.#producer;
    return producer !== null && !producer.failing && producer.oldestAge(performance.now()) < MAX_OLDEST_MS;
  }

  /** How long a request waits at most, milliseconds. */
  get deadlineMs(): number {
    return this.#options.deadlineMs ?? DEADLINE_MS;
  }

  /** Bytes that wait for Kafka. */
  get pendingBytes(): number {
    return this.#producer?.pendingBytes ?? 0;
  }

  /** Queues a record. Throws HttpError 429 where it is stopped. */
  enqueue(record: SharedRecord): void {
    if (this.#producer === null) throw backpressure();
    this.#producer.enqueue(record);
  }

  /** A record that is queued for this partition has grown by `bytes`. */
  grew(partition: number, bytes: number): void {
    this.#producer?.grew(partition, bytes);
  }

  /**
   * Resolves when Kafka has acknowledged all of these records, which must be queued in the same turn of the event loop. Rejects with HttpError
   * 429 `backpressure` when a send failed or nothing came back until `deadline` (monotonic milliseconds; in 5 s without it): what the request
   * has in them is then stored once or not at all.
   */
  acknowledged(records: ReadonlySet<SharedRecord>, deadline = performance.now() + this.deadlineMs): Promise<void> {
    return new Promise((resolve, reject) => {
      let open = records.size;
      const settle = (error: HttpError | null): void => {
        clearTimeout(timer);
        for (const record of records) record.leave(waiter);
        if (error === null) resolve();
        else reject(error);
      };
      const waiter: Waiter = (error) => {
        open -= 1;
        if (error !== null) settle(backpressure('Kafka did not take the entries; the request may be sent again.'));
        else if (open === 0) settle(null);
      };
      const timer = setTimeout(
        () => {
          settle(tooLate());
        },
        Math.max(deadline - performance.now(), 0),
      );
      for (const record of records) record.join(waiter);
      if (open === 0) settle(null);
    });
  }
}

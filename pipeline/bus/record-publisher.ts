import type { Kafka } from 'kafkajs';
import type { Logger } from 'pino';
import { backpressure, type HttpError } from '../core/errors.ts';
import type { Service } from '../core/service.ts';
import { ProducerLane, type OnSent } from './lane.ts';
import type { SharedRecord, Waiter } from './pending-record.ts';
import { partitionCount } from './topics.ts';

/** How long a request waits for Kafka's acknowledgement, whatever kafkajs does; and the bounds of what may wait. Milliseconds, bytes. */
const DEADLINE_MS = 5000;
const MAX_PENDING_BYTES = 64 * 1024 * 1024;
const MAX_OLDEST_MS = 2000;
/** A lane sends to one partition at a time, so there is one for each, unless there are many. */
const MAX_LANES = 8;

export type RecordPublisherOptions = {
  readonly kafka: Kafka;
  readonly log: Logger;
  readonly topic: string;
  /** How many producers at most; partition p goes through lane p mod n, so that its order is kept. */
  readonly lanes?: number;
  /** Told of the records of each send. */
  readonly onSent?: OnSent;
  /** How long a request waits; milliseconds. */
  readonly deadlineMs?: number;
};

/** Puts records on a topic, and says so only when Kafka has them (acks=all). */
export class RecordPublisher implements Service {
  readonly name: string;
  readonly #options: RecordPublisherOptions;
  #lanes: ProducerLane[] = [];
  #partitions = 0;

  constructor(options: RecordPublisherOptions) {
    this.#options = options;
    this.name = `publisher of ${options.topic}`;
  }

  async start(): Promise<void> {
    const { kafka, topic, lanes = MAX_LANES } = this.#options;
    this.#partitions = await partitionCount(kafka, topic);
    this.#lanes = Array.from({ length: Math.min(lanes, this.#partitions) }, () => new ProducerLane(this.#options));
    await Promise.all(this.#lanes.map((lane) => lane.start()));
  }

  async stop(): Promise<void> {
    const lanes = this.#lanes;
    this.#lanes = [];
    await Promise.all(lanes.map((lane) => lane.stop()));
  }

  /** How many partitions the topic has; known once it has started. */
  get partitions(): number {
    return this.#partitions;
  }

  /** Throws HttpError 429 `backpressure` while more is waiting than may wait. Called before a body is read, and again before it is decoded. */
  admit(): void {
    const now = performance.now();
    let pending = 0;
    for (const lane of this.#lanes) {
      pending += lane.pendingBytes;
      if (lane.oldestAge(now) > MAX_OLDEST_MS) throw backpressure();
    }
    if (pending > MAX_PENDING_BYTES || this.#lanes.length === 0) throw backpressure();
  }

  /** True while it runs and, as far as its last sends tell, Kafka takes what it sends. */
  get ready(): boolean {
    const now = performance.now();
    return this.#lanes.length > 0 && this.#lanes.every((lane) => !lane.failing && lane.oldestAge(now) < MAX_OLDEST_MS);
  }

  /** Bytes that wait for Kafka. */
  get pendingBytes(): number {
    return this.#lanes.reduce((sum, lane) => sum + lane.pendingBytes, 0);
  }

  /** Queues a record. Throws HttpError 429 where it is stopped. */
  enqueue(record: SharedRecord): void {
    this.#lane(record.partition).enqueue(record);
  }

  /** A record that is queued has grown by so many bytes. */
  grew(partition: number, bytes: number): void {
    this.#lane(partition).grew(bytes);
  }

  /**
   * Resolves when Kafka has acknowledged all of these records, which must be queued in the same turn of the event loop. Rejects with HttpError
   * 429 `backpressure` when a send failed or nothing came back within 5 s: what the request has in them is then stored once or not at all.
   */
  acknowledged(records: ReadonlySet<SharedRecord>): Promise<void> {
    const { deadlineMs = DEADLINE_MS } = this.#options;
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
      const timer = setTimeout(() => {
        settle(backpressure('Kafka did not acknowledge the entries in time; the request may be sent again.'));
      }, deadlineMs);
      for (const record of records) record.join(waiter);
      if (open === 0) settle(null);
    });
  }

  #lane(partition: number): ProducerLane {
    const lane = this.#lanes[partition % this.#lanes.length];
    if (lane === undefined) throw backpressure();
    return lane;
  }
}

import type { Kafka, Message, RecordMetadata } from 'kafkajs';
import { kafkajs } from './kafkajs.ts';
import type { Logger } from 'pino';
import type { Compression, PendingRecord, SealedRecord } from './pending-record.ts';
import { RenewableProducer } from './renewable-producer.ts';

/** A record that Kafka has acknowledged: where it lies, and whose billable bytes it carries. */
export type SentRecord = {
  readonly partition: number;
  readonly offset: number;
  /** Append time, milliseconds. */ readonly timestamp: number;
  readonly tenantId: number;
  readonly bytes: number;
};

/** Told of the records of each send, before their requests are answered. */
export type OnSent = (records: readonly SentRecord[]) => void;

export type LaneOptions = {
  readonly kafka: Kafka;
  readonly log: Logger;
  readonly topic: string;
  readonly onSent?: OnSent;
  readonly sendDeadlineMs?: number;
};

/** Most bytes of values in one send. */
const MAX_SEND_BYTES = 4_000_000;
/** After so long nobody waits for a send any more (a request waits 5 s): its producer is given up rather than waited for. Milliseconds. */
const SEND_DEADLINE_MS = 10_000;

const COMPRESSION: Readonly<Record<Compression, kafkajs.CompressionTypes>> = {
  none: kafkajs.CompressionTypes.None,
  snappy: kafkajs.CompressionTypes.Snappy,
};

const CANCELLED = new Error('No request waits for the record any more.');

/**
 * One idempotent producer with one send in flight, to one partition: the only way in which kafkajs neither loses nor doubles what it
 * acknowledged (docs/adr/0002-producer-lanes.md). While a send is in flight the next ones fill, so throughput comes from their size.
 */
export class ProducerLane {
  readonly #log: Logger;
  readonly #topic: string;
  readonly #onSent: OnSent;
  readonly #producer: RenewableProducer;
  #queue: PendingRecord[] = [];
  #sending: Promise<void> | null = null;
  #scheduled = false;
  #inFlightSince = 0;
  /** Bytes waiting or in flight. */
  pendingBytes = 0;
  /** True from a send that failed until one that did not. */
  failing = false;

  constructor({ kafka, log, topic, onSent = (): void => undefined, sendDeadlineMs = SEND_DEADLINE_MS }: LaneOptions) {
    this.#log = log;
    this.#topic = topic;
    this.#onSent = onSent;
    this.#producer = new RenewableProducer(kafka, sendDeadlineMs, {
      idempotent: true,
      maxInFlightRequests: 1,
      // a send that is rejected after these costs its producer, so limiting them does no harm
      retry: { retries: 5, initialRetryTime: 100, maxRetryTime: 1000 },
    });
  }

  async start(): Promise<void> {
    await this.#producer.connect();
  }

  /** Age in milliseconds of the oldest record that is not acknowledged. */
  oldestAge(now: number): number {
    const since = this.#sending === null ? (this.#queue[0]?.enqueuedAt ?? now) : this.#inFlightSince;
    return now - since;
  }

  enqueue(pending: PendingRecord): void {
    this.#queue.push(pending);
    this.pendingBytes += pending.size;
    if (this.#scheduled || this.#sending !== null) return;
    this.#scheduled = true;
    // requests that are decoded in the same turn of the event loop share a send
    setImmediate(() => {
      this.#scheduled = false;
      this.#pump();
    });
  }

  /** A record that waits here has grown by so many bytes. */
  grew(bytes: number): void {
    this.pendingBytes += bytes;
  }

  /** Sends what is queued, then disconnects. */
  async stop(): Promise<void> {
    while (this.#sending !== null || this.#queue.length > 0) {
      this.#pump();
      await this.#sending;
    }
    await this.#producer.disconnect();
  }

  #pump(): void {
    if (this.#sending !== null || this.#queue.length === 0) return;
    const taken = this.#take();
    this.#inFlightSince = taken[0]?.enqueuedAt ?? performance.now();
    this.#sending = this.#send(taken).then(() => {
      this.#sending = null;
      this.#pump();
    });
  }

  /**
   * The next records of the partition that has waited longest, up to the size of a send and as long as they are compressed alike, so that
   * their order stays; cancelled ones are discarded.
   */
  #take(): PendingRecord[] {
    const taken: PendingRecord[] = [];
    const left: PendingRecord[] = [];
    let bytes = 0;
    let isFull = false;
    for (const next of this.#queue) {
      const isOfSend = taken.length === 0 || next.partition === taken[0]?.partition;
      if (next.cancelled) {
        this.pendingBytes -= next.size;
        next.done(CANCELLED);
        continue;
      }
      const [first = next] = taken;
      isFull ||= isOfSend && taken.length > 0 && (bytes + next.size > MAX_SEND_BYTES || next.compression !== first.compression);
      if (isFull || !isOfSend) left.push(next);
      else {
        taken.push(next);
        bytes += next.size;
      }
    }
    this.#queue = left;
    return taken;
  }

  async #send(taken: readonly PendingRecord[]): Promise<void> {
    const bytes = taken.reduce((sum, { size }) => sum + size, 0);
    let failure: Error | null = null;
    try {
      if (taken.length > 0) {
        const records = taken.map((pending) => ({ partition: pending.partition, ...pending.seal() }));
        const answers = await this.#producer.send({
          topic: this.#topic,
          acks: -1,
          timeout: 15_000,
          compression: COMPRESSION[taken[0]?.compression ?? 'none'],
          messages: records.map(messageOf),
        });
        this.#onSent(sentRecords(records, answers));
        this.failing = false;
      }
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
      this.failing = true;
      this.#log.warn({ err: failure }, 'A send to Kafka failed; its producer is discarded.');
    }
    this.pendingBytes -= bytes;
    for (const pending of taken) pending.done(failure);
  }
}

type OutRecord = SealedRecord & { readonly partition: number };

const messageOf = ({ partition, value, headers }: OutRecord): Message => ({ partition, value, headers });

/** Where the records of a send lie: each partition's in the order in which they were given, from the base offset that Kafka answered. */
export function sentRecords(records: readonly Pick<OutRecord, 'partition' | 'info'>[], answers: readonly RecordMetadata[]): SentRecord[] {
  const next = new Map(answers.map(({ partition, baseOffset }) => [partition, Number(baseOffset)]));
  // a topic that keeps the producer's times answers -1
  const timestamps = new Map(answers.map(({ partition, logAppendTime }) => [partition, Math.max(Number(logAppendTime), 0) || Date.now()]));
  return records.map(({ partition, info: { tenantId, bytes } }) => {
    const [offset, timestamp] = [next.get(partition), timestamps.get(partition)];
    if (offset === undefined || timestamp === undefined) throw new Error('BUG: Kafka did not say where its records lie.');
    next.set(partition, offset + 1);
    return { partition, offset, timestamp, tenantId, bytes };
  });
}

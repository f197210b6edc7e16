import type { Kafka } from 'kafkajs';
import type { Logger } from 'pino';
import { backpressure, HttpError } from '../core/errors.ts';
import { retentionClass } from '../core/retention.ts';
import type { Service } from '../core/service.ts';
import { Shards } from '../core/shard.ts';
import { EntryCodec, EntryWriter, type RequestOptions, type Written } from '../entry/writer.ts';
import { ProducerLane, type OnSent, type Parcel } from './lane.ts';
import { LOGS_TOPIC, partitionCount } from './topics.ts';

/** How long a request waits for Kafka's acknowledgement, whatever kafkajs does; and the bounds of what may wait. Milliseconds, bytes. */
const DEADLINE_MS = 5000;
const MAX_PENDING_BYTES = 64 * 1024 * 1024;
const MAX_OLDEST_MS = 2000;
/** A lane sends to one partition at a time, so there is one for each, unless there are many. */
const MAX_LANES = 8;

/** Puts the entries of requests on the topic `logs.v1`, and says so only when Kafka has them (acks=all). */
export class LogPublisher implements Service {
  readonly name = 'log publisher';
  readonly #kafka: Kafka;
  readonly #log: Logger;
  readonly #laneCount: number;
  readonly #onSent: OnSent;
  #lanes: ProducerLane[] = [];
  readonly #codec = new EntryCodec();
  #shards: Shards | null = null;

  /** `lanes`: how many producers at most; partition p goes through lane p mod n, so that its order is kept. `onSent` is told of the records of each send. */
  constructor(options: { readonly kafka: Kafka; readonly log: Logger; readonly lanes?: number; readonly onSent?: OnSent }) {
    this.#kafka = options.kafka;
    this.#log = options.log;
    this.#laneCount = options.lanes ?? MAX_LANES;
    this.#onSent = options.onSent ?? ((): void => undefined);
  }

  async start(): Promise<void> {
    const shards = new Shards(await partitionCount(this.#kafka, LOGS_TOPIC));
    this.#shards = shards;
    this.#lanes = Array.from(
      { length: Math.min(this.#laneCount, shards.partitions) },
      () => new ProducerLane(this.#kafka, this.#log, this.#onSent),
    );
    await Promise.all(this.#lanes.map((lane) => lane.start()));
  }

  async stop(): Promise<void> {
    const lanes = this.#lanes;
    this.#lanes = [];
    await Promise.all(lanes.map((lane) => lane.stop()));
  }

  /** A writer for the entries of one request; `expectedBytes` is the size of its body. */
  writer(options: RequestOptions, expectedBytes = 0): EntryWriter {
    if (this.#shards === null) throw backpressure();
    const partitions = this.#shards.of(options.tenantId, options.shards);
    return new EntryWriter(this.#codec, { ...options, partitions }, expectedBytes);
  }

  /** How many partitions the log has; 0 as long as that is not known. */
  get partitions(): number {
    return this.#shards?.partitions ?? 0;
  }

  /** Throws HttpError 429 `backpressure` while more is waiting than may wait. Asked before a body is read, and again before it is decoded. */
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

  /**
   * Resolves when Kafka has acknowledged every record of the request. Rejects with HttpError 429 `backpressure` when a send failed
   * or nothing came back within 5 s: the entries are then stored once or not at all.
   */
  async publish(writer: EntryWriter, acceptedBytes: number): Promise<Written> {
    const { rejected, total } = writer;
    const accepted = writer.accepted;
    const parcels = parcelsOf(writer, acceptedBytes);
    if (parcels.length > 0) await this.#sendAll(parcels);
    return { accepted, rejected, total };
  }

  #sendAll(parcels: readonly Omit<Parcel, 'done'>[]): Promise<void> {
    return new Promise((resolve, reject) => {
      let open = parcels.length;
      const sent: { cancelled: boolean }[] = [];
      const settle = (error: HttpError | null): void => {
        clearTimeout(timer);
        if (error === null) resolve();
        else {
          for (const parcel of sent) parcel.cancelled = true;
          reject(error);
        }
      };
      const timer = setTimeout(() => {
        settle(backpressure('Kafka did not acknowledge the entries in time; the request may be sent again.'));
      }, DEADLINE_MS);
      for (const parcel of parcels) {
        const lane = this.#lanes[parcel.partition % this.#lanes.length];
        if (lane === undefined) {
          settle(backpressure());
          return;
        }
        const whole = {
          ...parcel,
          done: (error: Error | null): void => {
            open -= 1;
            if (error !== null) settle(backpressure('Kafka did not take the entries; the request may be sent again.'));
            else if (open === 0) settle(null);
          },
        };
        sent.push(whole);
        lane.enqueue(whole);
      }
    });
  }
}

/** The records of a request. One whose entries were all rejected has none of them, but its bytes count: it has a record without rows. */
function parcelsOf(writer: EntryWriter, acceptedBytes: number): Omit<Parcel, 'done'>[] {
  const { tenantId, partitions } = writer.options;
  const retentionDays = retentionClass(writer.options.retentionDays);
  const chunks = writer.chunks();
  const nothing = { partition: partitions[0] ?? 0, value: Buffer.alloc(0), count: 0, days: [], streams: [] };
  const own = chunks.length > 0 || acceptedBytes === 0 ? chunks : [nothing];
  return own.map(({ partition, value, count, days, streams }, index) => ({
    partition,
    value,
    info: {
      tenantId,
      retentionDays,
      count,
      bytes: index === 0 ? acceptedBytes : 0,
      days,
      streams: new Map(streams.map(({ id, text }) => [id, text])),
    },
    enqueuedAt: performance.now(),
    cancelled: false,
  }));
}

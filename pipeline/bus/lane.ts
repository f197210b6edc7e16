import kafkajs, { type Kafka, type Message, type Producer, type RecordMetadata } from 'kafkajs';
import type { Logger } from 'pino';
import { encodeHeaders, type RecordInfo } from '../logs/record.ts';
import { LOGS_TOPIC } from './topics.ts';
import { within } from './within.ts';

/** Rows that wait to be produced, and whom to tell. */
export type Parcel = {
  readonly partition: number;
  readonly value: Buffer;
  readonly info: RecordInfo;
  readonly enqueuedAt: number;
  /** Set when nobody waits any more: it is then not sent, as long as it has not been. */
  cancelled: boolean;
  done(error: Error | null): void;
};

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

/** Most bytes of values in one send, and of one record that several requests share. */
const MAX_SEND_BYTES = 2_000_000;
const MAX_RECORD_BYTES = 900_000;
/** After so long nobody waits for a send any more (a request waits 5 s): its producer is given up rather than waited for. Milliseconds. */
const SEND_DEADLINE_MS = 10_000;

/**
 * One idempotent producer with one send in flight, to one partition: the only way in which kafkajs neither loses nor doubles what it
 * acknowledged (docs/adr/0002-producer-lanes.md). While a send is in flight the next ones fill, so throughput comes from their size.
 */
export class ProducerLane {
  readonly #kafka: Kafka;
  readonly #log: Logger;
  readonly #onSent: OnSent;
  readonly #sendDeadlineMs: number;
  #queue: Parcel[] = [];
  #producer: Promise<Producer> | null = null;
  #sending: Promise<void> | null = null;
  #scheduled = false;
  #inFlightSince = 0;
  /** Bytes waiting or in flight. */
  pendingBytes = 0;
  /** True from a send that failed until one that did not. */
  failing = false;

  constructor(kafka: Kafka, log: Logger, onSent: OnSent = () => undefined, sendDeadlineMs = SEND_DEADLINE_MS) {
    this.#kafka = kafka;
    this.#log = log;
    this.#onSent = onSent;
    this.#sendDeadlineMs = sendDeadlineMs;
  }

  async start(): Promise<void> {
    await this.#connected();
  }

  /** Age in milliseconds of the oldest parcel that is not acknowledged. */
  oldestAge(now: number): number {
    const since = this.#sending === null ? (this.#queue[0]?.enqueuedAt ?? now) : this.#inFlightSince;
    return now - since;
  }

  enqueue(parcel: Parcel): void {
    this.#queue.push(parcel);
    this.pendingBytes += parcel.value.length;
    if (this.#scheduled || this.#sending !== null) return;
    this.#scheduled = true;
    // requests that are decoded in the same turn of the event loop share a send
    setImmediate(() => {
      this.#scheduled = false;
      this.#pump();
    });
  }

  /** Sends what is queued, then disconnects. */
  async stop(): Promise<void> {
    while (this.#sending !== null || this.#queue.length > 0) {
      this.#pump();
      await this.#sending;
    }
    const producer = this.#producer;
    this.#producer = null;
    await (await producer)?.disconnect();
  }

  #pump(): void {
    if (this.#sending !== null || this.#queue.length === 0) return;
    const parcels = this.#take();
    this.#inFlightSince = parcels[0]?.enqueuedAt ?? performance.now();
    this.#sending = this.#send(parcels).then(() => {
      this.#sending = null;
      this.#pump();
    });
  }

  /** The next parcels of the partition that has waited longest, up to the size of a send; cancelled ones fall away. */
  #take(): Parcel[] {
    const taken: Parcel[] = [];
    const left: Parcel[] = [];
    let bytes = 0;
    let isFull = false;
    for (const next of this.#queue) {
      const isOfSend = taken.length === 0 || next.partition === taken[0]?.partition;
      isFull ||= isOfSend && taken.length > 0 && bytes + next.value.length > MAX_SEND_BYTES;
      if (next.cancelled) this.pendingBytes -= next.value.length;
      else if (isFull || !isOfSend) left.push(next);
      else {
        taken.push(next);
        bytes += next.value.length;
      }
    }
    this.#queue = left;
    return taken;
  }

  async #send(parcels: readonly Parcel[]): Promise<void> {
    let failure: Error | null = null;
    try {
      if (parcels.length > 0) {
        const records = recordsOf(parcels);
        const answers = await within(this.#sendDeadlineMs, this.#produce(records));
        this.#onSent(sentRecords(records, answers));
        this.failing = false;
      }
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
      this.failing = true;
      this.#log.warn({ err: failure }, 'A send to Kafka failed; its producer is thrown away.');
      this.#discard();
    }
    for (const parcel of parcels) {
      this.pendingBytes -= parcel.value.length;
      parcel.done(failure);
    }
  }

  async #produce(records: readonly OutRecord[]): Promise<RecordMetadata[]> {
    const connected = this.#connected();
    const producer = await connected;
    // while it connected the send was given up: its requests were refused, and may have come again
    if (this.#producer !== connected) throw new Error('The producer was given up.');
    return producer.send({
      topic: LOGS_TOPIC,
      acks: -1,
      timeout: 15_000,
      compression: kafkajs.CompressionTypes.Snappy,
      messages: records.map(messageOf),
    });
  }

  #connected(): Promise<Producer> {
    if (this.#producer === null) {
      const producer = this.#kafka.producer({
        idempotent: true,
        maxInFlightRequests: 1,
        allowAutoTopicCreation: false,
        createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
        // a send that is rejected after these costs its producer, so limiting them does no harm
        retry: { retries: 5, initialRetryTime: 100, maxRetryTime: 1000 },
      });
      const connected = producer.connect().then(() => producer);
      this.#producer = connected;
      connected.catch(() => {
        // one that was given up before it failed is not the lane's any more
        if (this.#producer === connected) this.#producer = null;
      });
    }
    return this.#producer;
  }

  /** After a rejection the producer's sequence numbers cannot be trusted: a new one gets a new id. */
  #discard(): void {
    const producer = this.#producer;
    this.#producer = null;
    producer?.then((old) => old.disconnect()).catch(() => undefined);
  }
}

type OutRecord = Pick<Parcel, 'partition' | 'value' | 'info'>;

/** The records of a send, in their order: parcels of the same tenant, class and partition share one while it is small. */
export function recordsOf(parcels: readonly Parcel[]): OutRecord[] {
  const groups = new Map<string, Parcel[]>();
  const records: OutRecord[] = [];
  const close = (key: string): void => {
    const group = groups.get(key);
    if (group !== undefined) records.push(recordOf(group));
    groups.delete(key);
  };
  const sizes = new Map<string, number>();
  for (const parcel of parcels) {
    const key = `${String(parcel.partition)}/${String(parcel.info.tenantId)}/${String(parcel.info.retentionDays)}`;
    if ((sizes.get(key) ?? 0) + parcel.value.length > MAX_RECORD_BYTES) {
      close(key);
      sizes.set(key, 0);
    }
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [parcel]);
    else group.push(parcel);
    sizes.set(key, (sizes.get(key) ?? 0) + parcel.value.length);
  }
  for (const key of [...groups.keys()]) close(key);
  return records;
}

function recordOf(parcels: readonly Parcel[]): OutRecord {
  const first = parcels[0] as Parcel;
  if (parcels.length === 1) return first;
  const info: RecordInfo = {
    tenantId: first.info.tenantId,
    retentionDays: first.info.retentionDays,
    count: parcels.reduce((sum, { info: { count } }) => sum + count, 0),
    bytes: parcels.reduce((sum, { info: { bytes } }) => sum + bytes, 0),
    days: [...new Set(parcels.flatMap(({ info: { days } }) => days))],
    streams: new Map(parcels.flatMap(({ info: { streams } }) => [...streams])),
  };
  return { partition: first.partition, value: Buffer.concat(parcels.map(({ value }) => value)), info };
}

/** A record as kafkajs sends it. */
export const messageOf = ({ partition, value, info }: OutRecord): Message => ({ partition, value, headers: encodeHeaders(info) });

/** Where the records of a send lie: each partition's in the order in which they were given, from the base offset that Kafka answered. */
export function sentRecords(records: readonly OutRecord[], answers: readonly RecordMetadata[]): SentRecord[] {
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

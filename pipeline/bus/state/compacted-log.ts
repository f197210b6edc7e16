import { randomUUID } from 'node:crypto';
import type { Kafka, KafkaMessage } from 'kafkajs';
import type { Logger } from 'pino';
import type { CompactedLog, CompactedRecord } from '../../core/compacted-log.ts';
import { queryOnce } from '../connection/admin-connection.ts';
import { GroupMember } from '../consumer/group-member.ts';
import { boundsOf } from '../reading/group-positions.ts';
import { RenewableProducer } from '../producer/renewable-producer.ts';

const APPEND_DEADLINE_MS = 10_000;
/** A log that cannot be read to its end within this time counts as out of reach. */
const READ_DEADLINE_MS = 20_000;

/** Bytes of a request, beyond which the next one is begun; a broker takes batches of 1 MiB. */
const BATCH_BYTES = 256 * 1024;

const EMPTY = { low: 0, end: 0 };

/** A compacted topic on Kafka. Every node reads all of it, so each has a consumer group of its own, which commits nothing. */
export class KafkaCompactedLog implements CompactedLog {
  readonly #kafka: Kafka;
  readonly #log: Logger;
  readonly #topic: string;
  #member: GroupMember | null = null;
  readonly #producer: RenewableProducer;
  /** Offset of the last record given on. With each assignment it begins at the start again; what was given is skipped. */
  #last = -1n;
  #onRecord: (record: CompactedRecord) => void = () => undefined;
  /** Records that came in between `readAll` and `follow`. */
  #held: CompactedRecord[] = [];
  /** Called when more of the topic has been read. */
  #onProgress: () => void = () => undefined;

  constructor(options: { readonly kafka: Kafka; readonly log: Logger; readonly topic: string }) {
    this.#kafka = options.kafka;
    this.#log = options.log;
    this.#topic = options.topic;
    this.#producer = new RenewableProducer(this.#kafka, APPEND_DEADLINE_MS, { maxInFlightRequests: 1 });
  }

  async readAll(onRecord: (record: CompactedRecord) => void): Promise<void> {
    // not waited for: it takes nothing more, and its requests to Kafka may never be answered
    this.#member?.leave().catch(() => undefined);
    this.#last = -1n;
    this.#held = [];
    const end = await this.#endOffset();
    let reading = true;
    this.#onRecord = (record) => {
      if (reading) onRecord(record);
      else this.#held.push(record);
    };
    const member = this.#newMember();
    this.#member = member;
    try {
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => {
          reject(new Error(`${this.#topic} was not read to its end within ${READ_DEADLINE_MS} ms.`));
        }, READ_DEADLINE_MS);
        this.#onProgress = () => {
          if (this.#last + 1n < end || !reading) return;
          reading = false;
          clearTimeout(timer);
          resolve();
        };
        this.#onProgress();
        member.start().catch(reject);
      });
    } catch (error) {
      member.leave().catch(() => undefined);
      this.#member = null;
      throw error;
    }
  }

  follow(onRecord: (record: CompactedRecord) => void): Promise<void> {
    this.#onRecord = onRecord;
    for (const record of this.#held.splice(0)) onRecord(record);
    return Promise.resolve();
  }

  async append(key: string, value: string | null): Promise<bigint> {
    const [answer] = await this.#producer.send({ topic: this.#topic, acks: -1, messages: [{ partition: 0, key, value }] });
    return BigInt(answer?.baseOffset ?? '-1');
  }

  async appendAll(records: readonly Omit<CompactedRecord, 'offset'>[]): Promise<void> {
    for (const together of batchesOf(records))
      await this.#producer.send({
        topic: this.#topic,
        acks: -1,
        messages: together.map(({ key, value }) => ({ partition: 0, key, value })),
      });
  }

  async stop(): Promise<void> {
    const member = this.#member;
    this.#member = null;
    await Promise.all([member?.leave(), this.#producer.disconnect()]);
  }

  #take({ offset, key, value }: KafkaMessage): void {
    const at = BigInt(offset);
    if (at > this.#last) {
      this.#last = at;
      if (key !== null) this.#onRecord({ offset: at, key: key.toString(), value: value === null ? null : value.toString() });
    }
    this.#onProgress();
  }

  /** The offset after the last record; 0 where retention has left none. */
  async #endOffset(): Promise<bigint> {
    const { low, end } = (await queryOnce(this.#kafka, READ_DEADLINE_MS, (admin) => boundsOf(admin, this.#topic))).get(0) ?? EMPTY;
    return low === end ? 0n : BigInt(end);
  }

  #newMember(): GroupMember {
    return new GroupMember({
      kafka: this.#kafka,
      log: this.#log,
      groupId: `${this.#topic.replace(/\.v\d+$/, '')}-${randomUUID()}`,
      topic: this.#topic,
      fetch: { maxWaitTimeInMs: 500 },
      onBatch: ({ batch, resolveOffset }) => {
        for (const message of batch.messages) this.#take(message);
        resolveOffset(batch.lastOffset());
        return Promise.resolve();
      },
    });
  }
}

/** The records in groups of at most `BATCH_BYTES`, in their order; one that is larger is alone. */
function batchesOf<One extends Omit<CompactedRecord, 'offset'>>(records: readonly One[]): One[][] {
  const batches: One[][] = [];
  let budget = 0;
  for (const record of records) {
    const bytes = Buffer.byteLength(record.key) + Buffer.byteLength(record.value ?? '');
    if (bytes > budget) {
      batches.push([]);
      budget = BATCH_BYTES;
    }
    budget -= bytes;
    (batches.at(-1) as One[]).push(record);
  }
  return batches;
}

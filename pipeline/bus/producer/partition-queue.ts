import type { PartitionAnswer } from './broker-connection.ts';
import type { PendingRecord, SealedRecord } from './pending-record.ts';
import { encodeRecordBatch, type ProducerIdentity } from './record-batch.ts';
import type { SentRecord } from './sent-record.ts';

/** Sequence numbers are int32 and begin again at 0. */
const SEQUENCES = 2 ** 31;
/** One in this number of lost connections is taken for a sign that the leader may have changed. */
const REPEATS_AT_ONCE = 4;
/** After this number of failures the pauses between repeats do not grow any more. */
const MOST_DOUBLINGS = 4;

const CANCELLED = new Error('No request waits for the record any more.');

/**
 * Records of one partition in the order in which they are sent: their bytes never change, so that Kafka knows them again however often and
 * to which broker they are sent.
 */
export type FrozenBatch = {
  readonly bytes: Buffer;
  readonly records: readonly PendingRecord[];
  /** What each record counts, and for whom. */
  readonly infos: readonly SealedRecord['info'][];
  /** Of the records while they waited. */
  readonly size: number;
  /** By `performance.now()`. */
  readonly frozenAt: number;
};

/** Where the records of a batch lie. Their requests are answered with `done`, which must be called. */
export type Acknowledged = { readonly sent: readonly SentRecord[]; readonly done: (error: Error | null) => void };

/**
 * What waits for one partition, and the one batch of it that was sent and not answered yet. Sequence numbers belong to the partition and its
 * producer id, and move on only with an acknowledgement; an id under which a batch has finally failed is never used here again.
 */
export class PartitionQueue {
  readonly partition: number;
  /** Called with records, and their bytes together, that no longer wait; their requests are answered next. */
  readonly #released: (records: readonly PendingRecord[], bytes: number) => void;
  #waiting: PendingRecord[] = [];
  #batch: FrozenBatch | null = null;
  #identity: ProducerIdentity | null = null;
  #sequence = 0;
  /** Since the last acknowledgement. */
  #failures = 0;
  #lost = 0;
  /** The broker that leads it, as far as is known. */
  leader: number | null = null;
  /** It is not tried again before; by `performance.now()`. */
  retryAt = 0;
  /** Its batch is on its way to a broker. */
  inFlight = false;
  /** Of all that is not answered. */
  pendingBytes = 0;

  constructor(partition: number, released: (records: readonly PendingRecord[], bytes: number) => void) {
    this.partition = partition;
    this.#released = released;
  }

  get identity(): ProducerIdentity | null {
    return this.#identity;
  }

  get batch(): FrozenBatch | null {
    return this.#batch;
  }

  get isEmpty(): boolean {
    return this.#batch === null && this.#waiting.length === 0;
  }

  /** When the oldest record that is not answered came, by `performance.now()`; null where there is none. */
  get oldestAt(): number | null {
    return (this.#batch?.records[0] ?? this.#waiting[0])?.enqueuedAt ?? null;
  }

  enqueue(record: PendingRecord): void {
    this.#waiting.push(record);
    this.pendingBytes += record.size;
  }

  /** From now on it sends as this producer, from sequence 0. It must be one that it has never been. */
  identify(identity: ProducerIdentity): void {
    this.#identity = identity;
    this.#sequence = 0;
  }

  /**
   * The batch to send: the frozen one again, or a new one of what waits, up to `limit` bytes and while it is compressed alike. Null where
   * nothing is left, or nothing fits; a first record always fits where the batch `isFirst` of its request.
   */
  async freeze(limit: number, isFirst: boolean): Promise<FrozenBatch | null> {
    if (this.#batch !== null) return isFirst || this.#batch.bytes.length <= limit ? this.#batch : null;
    const records = this.#take(limit, isFirst);
    const identity = this.#identity;
    if (records.length === 0 || identity === null) return null;
    const size = records.reduce((sum, record) => sum + record.size, 0);
    try {
      const sealed = records.map((record) => record.seal());
      const { compression } = records[0] as PendingRecord;
      const bytes = await encodeRecordBatch({ records: sealed, identity, sequence: this.#sequence, compression });
      this.#batch = { bytes, records, infos: sealed.map(({ info }) => info), size, frozenAt: performance.now() };
      return this.#batch;
    } catch (error) {
      // nothing was sent, so its sequence numbers are free
      this.#settle(records, size, error instanceof Error ? error : new Error(String(error)));
      return null;
    }
  }

  /** The batch is stored. */
  acknowledge({ partition, baseOffset, logAppendTime }: PartitionAnswer): Acknowledged {
    const { records, infos, size } = this.#taken();
    this.#sequence = (this.#sequence + records.length) % SEQUENCES;
    this.#failures = 0;
    this.#lost = 0;
    // a topic that keeps the producer's times answers -1
    const timestamp = Math.max(logAppendTime, 0) || Date.now();
    const sent = infos.map(({ tenantId, bytes }, index) => ({
      ...{ partition, offset: baseOffset + index },
      ...{ timestamp, tenantId, bytes },
    }));
    const done = (error: Error | null): void => {
      this.#settle(records, size, error);
    };
    return { sent, done };
  }

  /** The batch failed permanently: its requests are refused. Whether it is stored is not known, so its producer id is not used any more. */
  fail(error: Error): void {
    const { records, size } = this.#taken();
    this.#identity = null;
    this.#settle(records, size, error);
  }

  /**
   * It could not be sent, or not be taken just now: its leader then gets it again, first at once, then after `pauseMs`, then after ever
   * longer pauses. `isLost`: all that is known is that the connection was lost; then the same leader gets it again at once, a few times.
   */
  postpone(now: number, pauseMs: number, isLost = false): void {
    this.retryAt = now;
    if (isLost && ++this.#lost % REPEATS_AT_ONCE !== 0) return;
    this.leader = null;
    if (this.#failures > 0) this.retryAt += pauseMs * 2 ** Math.min(this.#failures - 1, MOST_DOUBLINGS);
    this.#failures += 1;
  }

  /** True for a batch that has had its time, or that no request waits for any more; not while it is in flight. */
  isOverdue(now: number, deadlineMs: number): boolean {
    const batch = this.#batch;
    if (batch === null || this.inFlight) return false;
    return now - batch.frozenAt >= deadlineMs || batch.records.every(({ cancelled }) => cancelled);
  }

  /** Drops what no request waits for any more, and what has waited too long; true where there was any. */
  sweep(now: number, deadlineMs: number): boolean {
    const before = this.#waiting.length;
    this.#waiting = this.#waiting.filter((record) => {
      if (!record.cancelled && now - record.enqueuedAt < deadlineMs) return true;
      this.#settle([record], record.size, record.cancelled ? CANCELLED : new Error('Kafka did not take the record in time.'));
      return false;
    });
    return this.#waiting.length < before;
  }

  #take(limit: number, isFirst: boolean): PendingRecord[] {
    const taken: PendingRecord[] = [];
    let [bytes, at] = [0, 0];
    for (; at < this.#waiting.length; at++) {
      const next = this.#waiting[at] as PendingRecord;
      if (next.cancelled) {
        this.#settle([next], next.size, CANCELLED);
        continue;
      }
      const mayExceed = isFirst && taken.length === 0;
      if (!mayExceed && bytes + next.size > limit) break;
      if (next.compression !== (taken[0] ?? next).compression) break;
      taken.push(next);
      bytes += next.size;
    }
    this.#waiting = this.#waiting.slice(at);
    return taken;
  }

  #taken(): FrozenBatch {
    const batch = this.#batch;
    if (batch === null) throw new Error('BUG: There is no batch that could be answered.');
    this.#batch = null;
    return batch;
  }

  #settle(records: readonly PendingRecord[], size: number, error: Error | null): void {
    this.pendingBytes -= size;
    this.#released(records, size);
    for (const record of records) record.done(error);
  }
}

import type { IHeaders } from 'kafkajs';
import type { RecordInfo } from '../records/signal-record.ts';

/** How a record is compressed in Kafka's batch, with the others of it. A value that is compressed already is not compressed again. */
export type Compression = 'none' | 'snappy';

/** A pending record in its final form. `info`: what it counts, and for whom. */
export type SealedRecord = {
  readonly value: Buffer;
  readonly headers: IHeaders;
  readonly info: Pick<RecordInfo, 'tenantId' | 'bytes'>;
};

/** A record that waits for its send. */
export interface PendingRecord {
  readonly partition: number;
  readonly compression: Compression;
  /** Bytes of its value, about. It may grow until it is sealed; `grew` reports that to the producer. */
  readonly size: number;
  /** By `performance.now()`. */
  readonly enqueuedAt: number;
  /** No request waits for it any more: it is then not sent, as long as it is not in flight. */
  readonly cancelled: boolean;
  /** Called once, when the producer takes it for a batch. It does not grow from then on. */
  seal(): SealedRecord;
  /** Called once: it is acknowledged, or the send failed, or it was discarded without a waiter. It takes nothing more then. */
  done(error: Error | null): void;
}

/** A request that waits for a record. */
export type Waiter = (error: Error | null) => void;

/** A pending record that several requests may share. */
export abstract class SharedRecord implements PendingRecord {
  abstract readonly partition: number;
  abstract readonly compression: Compression;
  abstract readonly size: number;
  readonly enqueuedAt = performance.now();
  readonly #waiting = new Set<Waiter>();
  #isOpen = true;

  /** True while more may be put into it. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  get cancelled(): boolean {
    return this.#waiting.size === 0;
  }

  /** From now on this request is waiting for it, until it leaves. */
  join(waiter: Waiter): void {
    this.#waiting.add(waiter);
  }

  leave(waiter: Waiter): void {
    this.#waiting.delete(waiter);
  }

  seal(): SealedRecord {
    this.#isOpen = false;
    return this.finish();
  }

  done(error: Error | null): void {
    this.#isOpen = false;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const waiter of waiting) waiter(error);
  }

  /** The record in its final form. */
  protected abstract finish(): SealedRecord;
}

import type { Logger } from 'pino';
import type { SentRecord } from '../../pipeline/bus/producer/sent-record.ts';
import { repeat } from '../../pipeline/core/repeat.ts';
import type { Service } from '../../pipeline/core/service.ts';
import { StorageWindow } from './storage-window.ts';

export type StoragePaceOptions = {
  /** The offset after the last record that is stored, of each partition of the log. */
  readonly stored: () => Promise<ReadonlyMap<number, number>>;
  readonly log: Logger;
  /** Is given how long a request has waited, seconds. */
  readonly onWaited?: (seconds: number) => void;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
  readonly everyMs?: number;
};

const EVERY_MS = 250;
/** Stored offsets are read once a record older than this is not known to be stored. */
const QUERY_MS = 1500;
/** The longest wait of a request. Shippers wait ten seconds and more for an answer. */
const MAX_WAIT_MS = 2500;
/** Half-life of what a tenant has sent, in looks. */
const HALF_LIFE = 20;
/** A tenant with less than this share of the mean of all that send does not wait for the others. */
const SMALL_SHARE = 0.5;

/** Requests that wait in a process. From this number on, the next ones go on to the limits at once. */
const MAX_WAITING = 1000;

type Waiting = { readonly tenantId: number; readonly bytes: number; readonly until: number; readonly go: () => void };

/**
 * Storage goes first: while storage has four seconds of work, requests of the tenants that send most wait before their bodies are read.
 * They wait 2.5 s at most, and none while storage is halted (docs/adr/0018-storage-goes-first.md).
 */
export class StoragePace implements Service {
  readonly name = 'storage pace';
  readonly #options: Required<StoragePaceOptions>;
  readonly #window = new StorageWindow();
  readonly #stop = new AbortController();
  #waiting: Waiting[] = [];
  /** Bytes of late, by tenant, and in all. */
  readonly #sent = new Map<number, number>();
  #sentInAll = 0;
  #running: Promise<void> | null = null;

  constructor(options: StoragePaceOptions) {
    this.#options = { now: () => performance.now(), everyMs: EVERY_MS, onWaited: () => undefined, ...options };
  }

  start(): Promise<void> {
    this.#running = repeat(this.#options.everyMs, this.#stop.signal, () => this.#look());
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    for (const { go } of this.#waiting.splice(0)) go();
    await this.#running;
  }

  /** Notes records that this process has had acknowledged. */
  sent(records: readonly SentRecord[]): void {
    const now = this.#options.now();
    for (const record of records) {
      this.#window.sent(record, now);
      this.#sent.set(record.tenantId, (this.#sent.get(record.tenantId) ?? 0) + record.bytes);
      this.#sentInAll += record.bytes;
    }
  }

  /** Null where a request of this size may go on at once, as most may; else resolves when it may. */
  turn(tenantId: number, bytes: number): Promise<void> | null {
    const { now } = this.#options;
    const began = now();
    if (this.#stop.signal.aborted || this.#waiting.length >= MAX_WAITING || this.#isSmall(tenantId)) return null;
    if (this.#waiting.length === 0 && (this.#window.budget(began) ?? 1) > 0) return null;
    return new Promise((resolve) => {
      const go = (): void => {
        this.#options.onWaited((now() - began) / 1000);
        resolve();
      };
      this.#waiting.push({ tenantId, bytes, until: began + MAX_WAIT_MS, go });
    });
  }

  #isSmall(tenantId: number): boolean {
    return (this.#sent.get(tenantId) ?? 0) * this.#sent.size < SMALL_SHARE * this.#sentInAll;
  }

  async #look(): Promise<void> {
    const { now, stored, log } = this.#options;
    this.#forget();
    if (now() - this.#window.since >= QUERY_MS)
      try {
        this.#window.stored(await stored(), now());
      } catch (error) {
        log.debug({ err: error }, 'The stored ranges are unknown.');
      }
    this.#release(now());
  }

  /** Resumes requests that fit the budget, of tenants that have sent little first, and those that have waited MAX_WAIT_MS. */
  #release(now: number): void {
    let budget = this.#window.budget(now) ?? Infinity;
    const sent = ({ tenantId }: Waiting): number => this.#sent.get(tenantId) ?? 0;
    const waiting = this.#waiting.sort((one, other) => sent(one) - sent(other));
    this.#waiting = [];
    for (const one of waiting) {
      if (budget <= 0 && one.until > now) this.#waiting.push(one);
      else {
        budget -= one.bytes;
        one.go();
      }
    }
  }

  #forget(): void {
    this.#sentInAll = 0;
    for (const [tenantId, bytes] of this.#sent) {
      const left = bytes * 0.5 ** (1 / HALF_LIFE);
      if (left < 1) this.#sent.delete(tenantId);
      else this.#sent.set(tenantId, left);
      this.#sentInAll += left;
    }
  }
}

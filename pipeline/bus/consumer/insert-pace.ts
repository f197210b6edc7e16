import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { InsertRound, type Seat } from './insert-round.ts';
import type { RangeStore } from './range.ts';

/** A wait for more: what has been gathered for `ms` milliseconds is stored unless `rows` or more have come by then. */
export type Wait = { readonly ms: number; readonly rows: number };

/** When what is gathered is stored, of all partitions of a process together. */
export type PaceLimits = {
  /** This number of rows or bytes is stored at once. */
  readonly rows: number;
  readonly bytes: number;
  /** The shortest wait first; after the last one nothing waits. */
  readonly waits: readonly Wait[];
  /** After the first wait, what has come is stored when no more comes for this long; milliseconds. Unused where it is not set. */
  readonly idleMs?: number;
};

/** A partition that has something to store. */
export type Waiting = {
  readonly rows: number;
  readonly bytes: number;
  /** When its oldest record was read, by `performance.now()`. */
  readonly oldestAt: number;
  /** It cannot gather more, or should not wait. */
  readonly isUrgent: boolean;
};

export type InsertPaceOptions = {
  readonly limits: PaceLimits;
  readonly store: Pick<RangeStore, 'joins' | 'storeJointly'>;
  readonly log: Logger;
};

/**
 * Decides by the total of a process when its partitions take up what they have gathered, so that many partitions are stored as large blocks
 * as one: a block costs ClickHouse by itself, and small ones are merged more often. One round is under way at a time.
 */
export class InsertPace {
  readonly #options: InsertPaceOptions;
  readonly #waiting = new Map<Waiting, (seat: Seat | null) => void>();
  #rows = 0;
  #bytes = 0;
  #grewAt = 0;
  #isBusy = false;
  #isDue = false;
  #timer: NodeJS.Timeout | undefined;
  readonly #prefix = randomUUID().replaceAll('-', '').slice(0, 16);
  #rounds = 0;

  constructor(options: InsertPaceOptions) {
    this.#options = options;
  }

  /** Resolves when the partition is to take up what it has, with its place in the round; with null where it is alone, or was withdrawn. */
  turn(waiting: Waiting): Promise<Seat | null> {
    return new Promise((resolve) => {
      this.#waiting.set(waiting, resolve);
      this.grew(waiting, waiting.rows, waiting.bytes);
    });
  }

  /** A partition has gathered so much more. */
  grew(waiting: Waiting, rows: number, bytes: number): void {
    if (!this.#waiting.has(waiting)) return;
    this.#rows += rows;
    this.#bytes += bytes;
    this.#grewAt = performance.now();
    if (this.#timer === undefined || waiting.isUrgent || this.#isMuch) this.#look();
  }

  /** The partition is no longer assigned to this process. */
  withdraw(waiting: Waiting): void {
    this.#remove(waiting)?.(null);
  }

  /** Looks again: a partition does not want to wait any more. */
  hurry(): void {
    this.#look();
  }

  get #isMuch(): boolean {
    const { rows, bytes } = this.#options.limits;
    return this.#rows >= rows || this.#bytes >= bytes;
  }

  #remove(waiting: Waiting): ((seat: Seat | null) => void) | undefined {
    const resolve = this.#waiting.get(waiting);
    if (resolve === undefined) return undefined;
    this.#waiting.delete(waiting);
    this.#count();
    return resolve;
  }

  #count(): void {
    [this.#rows, this.#bytes] = [0, 0];
    for (const { rows, bytes } of this.#waiting.keys()) {
      this.#rows += rows;
      this.#bytes += bytes;
    }
  }

  #look(): void {
    if (this.#isBusy) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.size === 0) return;
    const wait = this.#waitMs();
    if (wait > 0)
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        this.#look();
      }, wait);
    else if (!this.#isDue) {
      this.#isDue = true;
      // those whose ranges were stored together come back in the same turn of the event loop
      setImmediate(() => {
        this.#isDue = false;
        if (!this.#isBusy && this.#waiting.size > 0) this.#begin();
      });
    }
  }

  /** Milliseconds until the next round should begin, or until it is to be looked again. */
  #waitMs(): number {
    const all = [...this.#waiting.keys()];
    if (this.#isMuch || all.some(({ isUrgent }) => isUrgent)) return 0;
    const now = performance.now();
    const age = now - all.reduce((oldest, { oldestAt }) => Math.min(oldest, oldestAt), Infinity);
    const { waits, idleMs = Infinity } = this.#options.limits;
    let untilIdle = Infinity;
    for (const { ms, rows } of waits) {
      if (age < ms) return Math.min(ms - age, untilIdle);
      if (this.#rows < rows) return 0;
      untilIdle = this.#grewAt + idleMs - now;
    }
    return 0;
  }

  /** Those that have waited longest, up to the limits. */
  #begin(): void {
    const { limits, store, log } = this.#options;
    const taken: Waiting[] = [];
    let [rows, bytes] = [0, 0];
    for (const waiting of [...this.#waiting.keys()].sort((one, other) => one.oldestAt - other.oldestAt)) {
      if (taken.length > 0 && (rows + waiting.rows > limits.rows || bytes + waiting.bytes > limits.bytes)) continue;
      taken.push(waiting);
      rows += waiting.rows;
      bytes += waiting.bytes;
    }
    const round = taken.length > 1 ? new InsertRound({ id: this.#nextId(), seats: taken.length, store, log }) : null;
    for (const waiting of taken) {
      const resolve = this.#waiting.get(waiting);
      this.#waiting.delete(waiting);
      resolve?.(round?.seat() ?? null);
    }
    this.#count();
    if (round !== null) void this.#until(round);
    else this.#look();
  }

  async #until(round: InsertRound): Promise<void> {
    this.#isBusy = true;
    await round.over;
    this.#isBusy = false;
    this.#look();
  }

  #nextId(): string {
    this.#rounds += 1;
    return `${this.#prefix}-${String(this.#rounds)}`;
  }
}

/** What queries may hold in the memory of one process, and until when they may run. */
import { LogsqlLimitError } from './errors.ts';

/** Most bytes of a value that a pipe makes, and of a row with all its values. */
export const MAX_VALUE_BYTES = 8_000_000;
export const MAX_ROW_BYTES = 16_000_000;

/** Most fields, words or parts of a list that one value is taken apart into. */
const MAX_PARTS = 100_000;

/** To be called while a value is taken apart. Throws LogsqlLimitError. */
export function checkParts(count: number): void {
  if (count > MAX_PARTS) throw new LogsqlLimitError(`A value cannot be taken apart into more than ${String(MAX_PARTS)} parts.`);
}

/** A query may hold this many times what is left. */
const SHARE = 2;
/** The clock is read once in this many steps; this many characters of a row count as one more step. */
const STEPS_PER_LOOK = 64;
const CHARACTERS_PER_STEP = 1024;

/**
 * The memory that all queries of a process share. Each may hold twice what is left at that time. One alone gets two thirds; later ones
 * find memory, and nothing is taken from earlier ones (Choudhury and Hahne, "Dynamic queue length thresholds for
 * shared-memory packet switches", 1998).
 */
export class SharedMemory {
  readonly #maxBytes: number;
  #held = 0;
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }
  /** How much a query may hold now that holds `own`. */
  most(own: number): number {
    return (SHARE * (this.#maxBytes - this.#held + own)) / (1 + SHARE);
  }
  add(bytes: number): void {
    this.#held += bytes;
  }
}

/** What makes any query hold less. */
const ADVICE = 'narrow the query or its time range';

export type MemoryLimits = { readonly maxRows: number; readonly maxBytes: number };

/** What one query holds, in all its stages and in the queries inside it. */
export class QueryMemory {
  readonly maxRows: number;
  /** When its time is up, by `performance.now()`. */
  until = Infinity;
  readonly #shared: SharedMemory;
  readonly #clock: () => number;
  #rows = 0;
  #bytes = 0;
  #steps = 0;

  /** `clock` gives milliseconds, as `performance.now()` does. */
  constructor(
    { maxRows, maxBytes }: MemoryLimits,
    shared = new SharedMemory((maxBytes * (1 + SHARE)) / SHARE),
    clock: () => number = () => performance.now(),
  ) {
    this.maxRows = maxRows;
    this.#shared = shared;
    this.#clock = clock;
  }

  /** Counts what is held from now on. `who` begins the sentence of the error, as "The sort pipe" does, `advice` ends it. Throws LogsqlLimitError. */
  hold(who: string, rows: number, bytes: number, advice = ADVICE): void {
    this.#rows += rows;
    if (this.#rows > this.maxRows)
      throw new LogsqlLimitError(`${who} would hold more than ${String(this.maxRows)} rows in memory; ${advice}.`);
    if (!this.fits(bytes))
      throw new LogsqlLimitError(
        `${who} would take more memory than the query may have (${megabytes(this.#shared.most(this.#bytes))} MB now); ${advice}.`,
      );
    this.#bytes += bytes;
    this.#shared.add(bytes);
  }

  /** True while `bytes` more bytes may be held. */
  fits(bytes: number): boolean {
    return this.#bytes + bytes <= this.#shared.most(this.#bytes);
  }

  /** How many rows and bytes more may be held now; at least one of each. */
  get left(): MemoryLimits {
    const [rows, bytes] = [this.maxRows - this.#rows, this.#shared.most(this.#bytes) - this.#bytes];
    return { maxRows: Math.max(1, rows), maxBytes: Math.max(1, Math.floor(bytes)) };
  }

  /** What was held is not any more. */
  release(rows: number, bytes: number): void {
    this.#rows -= rows;
    this.#bytes -= bytes;
    this.#shared.add(-bytes);
  }

  /** The query, or one look of a tail, holds nothing any more. */
  clear(): void {
    this.release(this.#rows, this.#bytes);
  }

  /** To be called in every loop, with the characters that the step works on: throws LogsqlLimitError when the time is up. */
  step(characters = 0): void {
    this.#steps += 1 + characters / CHARACTERS_PER_STEP;
    if (this.#steps < STEPS_PER_LOOK) return;
    this.#steps = 0;
    this.checkTime();
  }

  /** Sorts a list in place and gives it; each comparison is a step. */
  sort<Item>(items: Item[], compare: (a: Item, b: Item) => number): Item[] {
    return items.sort((a, b) => {
      this.step();
      return compare(a, b);
    });
  }

  /** Reads the clock at once, where a step takes long. Throws LogsqlLimitError. */
  checkTime(): void {
    if (this.#clock() > this.until) throw new LogsqlLimitError('The query ran too long; narrow the time range or simplify the query.');
  }
}

const megabytes = (bytes: number): string => String(Math.floor(bytes / 1e6));

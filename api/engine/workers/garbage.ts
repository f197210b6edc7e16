/** What a process may take beyond what it took when it began before all garbage is collected, and beyond what was left then. */
const MUCH_BYTES = 24 * 1024 * 1024;
/** Buffers that were used up while they were young: so many bytes are collected at once, in about a millisecond. */
const YOUNG_BYTES = 8 * 1024 * 1024;
/** Of so many looks one is taken: it costs as much as reading the chunk of an answer for which it is. */
const LOOK_EACH = 8;
/** A process without work for so long, that has grown by as much again, collects all garbage. Milliseconds. */
const IDLE_MS = 250;

type Collect = (options?: { readonly type: 'minor'; readonly execution: 'sync' }) => void;

/**
 * Collects garbage in a worker: buffers of ClickHouse's answers, which V8 does not see until there are 64 MiB of them. The pool, which sees all memory
 * that a process takes, would end it before.
 */
export class Garbage {
  readonly #collect: Collect;
  #firstBytes = 0;
  #leftBytes = 0;
  #used = 0;
  #looks = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(collect: Collect = globalThis.gc as Collect) {
    this.#collect = collect;
  }

  /** Looks at what the process takes, now and then; to be called for each chunk. */
  look(): void {
    if (this.#looks++ % LOOK_EACH !== 0) return;
    this.#firstBytes ||= process.memoryUsage.rss();
    this.#allBeyond(MUCH_BYTES);
  }

  /** So many bytes of an answer have been used up. */
  used(bytes: number): void {
    this.#used += bytes;
    if (this.#used < YOUNG_BYTES) return;
    this.#used = 0;
    this.#collect({ type: 'minor', execution: 'sync' });
  }

  /** There is work, or there is none any more. */
  working(hasWork: boolean): void {
    clearTimeout(this.#idle);
    if (hasWork) return;
    this.#idle = setTimeout(() => {
      this.#allBeyond(YOUNG_BYTES);
    }, IDLE_MS).unref();
  }

  #allBeyond(bytes: number): void {
    if (process.memoryUsage.rss() < Math.max(this.#firstBytes, this.#leftBytes) + bytes) return;
    this.#collect();
    this.#leftBytes = process.memoryUsage.rss();
  }
}

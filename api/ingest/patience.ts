/**
 * How long a request waits for this service in all: for storage, for its turn to be read, and for Kafka. A shipper gives up after ten seconds and
 * more; what it is not answered by then, it sends again without knowing whether it is stored. Milliseconds.
 */
const WAITS_MS = 6500;
/** Kafka gets so long, whatever the request has waited before. */
const LEAST_MS = 1500;

/** What a request may still wait. Time in which its client sends the body is not counted. */
export class Patience {
  readonly #now: () => number;
  #waitedMs = 0;

  /** `now`: monotonic milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Waits, and counts it. */
  async during<Result>(wait: Promise<Result>): Promise<Result>;
  async during<Result>(wait: Promise<Result> | null): Promise<Result | null>;
  async during<Result>(wait: Promise<Result> | null): Promise<Result | null> {
    if (wait === null) return null;
    const began = this.#now();
    try {
      return await wait;
    } finally {
      this.#waitedMs += this.#now() - began;
    }
  }

  /** Milliseconds. */
  get leftMs(): number {
    return Math.max(WAITS_MS - this.#waitedMs, LEAST_MS);
  }
}

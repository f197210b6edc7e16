/** Bytes of snapshots that a process holds at a time, about: from when they are taken until they are saved. A larger one is taken alone. */
const MOST_BYTES = 16 * 1024 * 1024;

/** What snapshots share: all of them at once would take as much memory again as the states of all processors. */
export class SnapshotBudget {
  readonly #mostBytes: number;
  #held = 0;

  constructor(mostBytes = MOST_BYTES) {
    this.#mostBytes = mostBytes;
  }

  /** Reserves about `bytes` of the budget for a snapshot; calling the result releases them. Null where that exceeds it now. */
  take(bytes: number): (() => void) | null {
    // one of unknown size takes some too
    let own = Math.max(bytes, 1);
    if (this.#held > 0 && this.#held + own > this.#mostBytes) return null;
    this.#held += own;
    return () => {
      this.#held -= own;
      own = 0;
    };
  }
}

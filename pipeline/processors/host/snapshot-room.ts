/** Bytes of snapshots that a process holds at a time, about: from when they are taken until they are saved. A larger one is taken alone. */
const MOST_BYTES = 16 * 1024 * 1024;

/** What snapshots share: all of them at once would take as much memory again as the states of all processors. */
export class SnapshotRoom {
  readonly #mostBytes: number;
  #held = 0;

  constructor(mostBytes = MOST_BYTES) {
    this.#mostBytes = mostBytes;
  }

  /** Takes room for a snapshot of so many bytes, about: gives it back when it is called. Null where there is none now. */
  take(bytes: number): (() => void) | null {
    // one whose size nobody knows takes some too
    let own = Math.max(bytes, 1);
    if (this.#held > 0 && this.#held + own > this.#mostBytes) return null;
    this.#held += own;
    return () => {
      this.#held -= own;
      own = 0;
    };
  }
}

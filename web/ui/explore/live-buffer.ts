import type { Entry } from './entry.ts';

/** Entries that the list keeps. */
export const MOST_ROWS = 10_000;

/** A tail without its page: fed with frames, read once a frame of the screen. */
export class LiveBuffer {
  rows: readonly Entry[] = [];
  seen = 0;
  dropped = 0;
  isPaused = false;
  #waiting: Entry[] = [];
  #fresh: Entry[] = [];

  take(entry: Entry): void {
    this.seen += 1;
    const list = this.isPaused ? this.#waiting : this.#fresh;
    list.push(entry);
    if (list.length <= MOST_ROWS) return;
    // the oldest of those that no one has seen yet
    list.splice(0, list.length - MOST_ROWS);
    this.dropped += 1;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** What has come since the last time goes on top; true where there was something. */
  flush(): boolean {
    if (!this.isPaused && this.#waiting.length > 0) {
      this.#fresh = [...this.#waiting, ...this.#fresh];
      this.#waiting = [];
    }
    if (this.#fresh.length === 0) return false;
    this.rows = [...this.#fresh.toReversed(), ...this.rows].slice(0, MOST_ROWS);
    this.#fresh = [];
    return true;
  }
}

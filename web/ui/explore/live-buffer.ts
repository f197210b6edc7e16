import { idOf, type Entry } from './entry.ts';
import { gapRow, type Gap } from './gap.ts';

/** Entries that the list keeps. */
export const MOST_ROWS = 10_000;

/** A tail without its page: fed with frames, read once a frame of the screen. All that came is shown, waits, or is counted. */
export class LiveBuffer {
  rows: readonly Entry[] = [];
  seen = 0;
  dropped = 0;
  isPaused = false;
  #waiting: Entry[] = [];
  #fresh: Entry[] = [];
  /** What came behind the last position, by its id: it comes again where the tail goes on from there. */
  #unsure = new Map<string, number>();
  #again = new Map<string, number>();
  /** Of entries that waited and had no room: how many, and their times. */
  #lost: Gap | null = null;

  take(entry: Entry): void {
    const id = idOf(entry);
    const again = this.#again.get(id) ?? 0;
    if (again > 0) {
      this.#again.set(id, again - 1);
      return;
    }
    this.seen += 1;
    if (this.#unsure.size < MOST_ROWS) this.#unsure.set(id, (this.#unsure.get(id) ?? 0) + 1);
    const list = this.isPaused ? this.#waiting : this.#fresh;
    list.push(entry);
    if (list.length <= MOST_ROWS) return;
    // the oldest of those that no one has seen yet
    this.#lose(list.splice(0, list.length - MOST_ROWS));
  }

  /** The service has given a position: what came before it does not come again. */
  mark(): void {
    this.#unsure = new Map();
    this.#again = new Map();
  }

  /** The connection was lost: the tail goes on from the last position. */
  resume(): void {
    this.#again = this.#unsure;
    this.#unsure = new Map(this.#again);
  }

  /** Entries did not come; their place is shown. */
  miss(gap: Gap): void {
    this.dropped += gap.count;
    (this.isPaused ? this.#waiting : this.#fresh).push(gapRow(gap));
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
    if (this.#lost !== null && !this.isPaused) {
      this.#fresh.unshift(gapRow(this.#lost));
      this.#lost = null;
    }
    if (this.#fresh.length === 0) return false;
    this.rows = [...this.#fresh.toReversed(), ...this.rows].slice(0, MOST_ROWS);
    this.#fresh = [];
    return true;
  }

  #lose(entries: readonly Entry[]): void {
    this.dropped += entries.length;
    const timeOf = (entry: Entry | undefined): string => (typeof entry?.['_time'] === 'string' ? entry['_time'] : '');
    const [first, last] = [timeOf(entries[0]), timeOf(entries.at(-1))];
    const before = this.#lost;
    this.#lost = { count: (before?.count ?? 0) + entries.length, why: 'more came than the pause holds', since: before?.since ?? first, until: last }; // prettier-ignore
  }
}

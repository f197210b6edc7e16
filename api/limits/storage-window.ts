import type { SentRecord } from '../../pipeline/bus/producer/sent-record.ts';

/** How long what is acknowledged may take until it is stored, milliseconds: below the first the window grows, above the second it shrinks. */
const [SOON_MS, LATE_MS] = [3500, 4500];
const [GROWS, SHRINKS] = [1.15, 0.85];
/** The first is four seconds' worth of 150,000 entries/s of 300 bytes: a burst is over before it is known what storage can take. */
const [FIRST_BYTES, LEAST_BYTES] = [180 * 1000 * 1000, 4 * 1000 * 1000];
/** A partition that has stored nothing for this long is halted: the log buffers for it, and waiting would not help. */
const STILL_MS = 10_000;
/** A backlog that is older comes from an outage. While storage catches up with it faster than this ratio, nothing waits. */
const [OUTAGE_MS, CATCHING_UP] = [15_000, 1.1];
/** Records acknowledged within MARK_MS milliseconds share a mark, and so do all that follow when there are MAX_MARKS marks. */
const [MARK_MS, MAX_MARKS] = [250, 200];

/** Records up to (not including) an offset, acknowledged from `at` on. */
type Mark = { next: number; bytes: number; readonly at: number };

/** What was acknowledged on one partition and is not stored yet. */
class Unstored {
  bytes = 0;
  movedAt: number;
  #marks: Mark[] = [];
  #stored = -1;

  constructor(now: number) {
    this.movedAt = now;
  }

  /** When the oldest of it was acknowledged. */
  get since(): number {
    return this.#marks[0]?.at ?? Infinity;
  }

  add(offset: number, bytes: number, now: number): void {
    let last = this.#marks.at(-1);
    if (last === undefined) this.movedAt = now;
    if (last === undefined || (now - last.at >= MARK_MS && this.#marks.length < MAX_MARKS)) {
      last = { next: 0, bytes: 0, at: now };
      this.#marks.push(last);
    }
    last.next = Math.max(last.next, offset + 1);
    last.bytes += bytes;
    this.bytes += bytes;
  }

  /** Everything before `next` is stored; gives when the oldest of what was not stored before was acknowledged, null where nothing is new. */
  store(next: number, now: number): number | null {
    if (next === this.#stored) return null;
    [this.#stored, this.movedAt] = [next, now];
    const since = this.since;
    const done = this.#marks.findIndex((mark) => mark.next > next);
    const stored = done < 0 ? this.#marks.splice(0) : this.#marks.splice(0, done);
    for (const { bytes } of stored) this.bytes -= bytes;
    return stored.length === 0 ? null : since;
  }
}

/**
 * How much may be acknowledged and not stored at the same time, so that storage takes some four seconds for it: bytes, over all partitions that
 * this process has sent to. It is found as TCP finds its window: it grows while it holds requests up and storage is soon done with what it has,
 * and shrinks when storage takes longer. Times are monotonic milliseconds.
 */
export class StorageWindow {
  readonly #partitions = new Map<number, Unstored>();
  #bytes = FIRST_BYTES;
  /** Something waited since the window was looked at last. */
  #wasFull = false;
  #isCatchingUp = false;
  #before: { readonly since: number; readonly at: number } | null = null;

  sent({ partition, offset, bytes }: SentRecord, now: number): void {
    const known = this.#partitions.get(partition) ?? new Unstored(now);
    this.#partitions.set(partition, known);
    known.add(offset, bytes, now);
  }

  /** When the oldest record was acknowledged that is not known to be stored; Infinity where there is none. */
  get since(): number {
    return Math.min(...[...this.#partitions.values()].map(({ since }) => since));
  }

  /** Bytes that may be acknowledged before anything more is stored; null: as much as wants to. */
  budget(now: number): number | null {
    if (this.#isCatchingUp) return null;
    const unstored = this.#unstored(now);
    if (unstored >= this.#bytes) this.#wasFull = true;
    return this.#bytes - unstored;
  }

  /** Takes what is stored, as the offset that comes next of each partition. */
  stored(offsets: ReadonlyMap<number, number>, now: number): void {
    const unstored = this.#unstored(now);
    let oldest = Infinity;
    for (const [partition, unstored] of this.#partitions)
      oldest = Math.min(oldest, unstored.store(offsets.get(partition) ?? -1, now) ?? Infinity);
    if (oldest === Infinity) return;
    this.#compare(now);
    if (!this.#isCatchingUp) this.#resize(now - oldest, unstored);
  }

  #unstored(now: number): number {
    let unstored = 0;
    for (const { bytes, movedAt } of this.#partitions.values()) if (now - movedAt <= STILL_MS) unstored += bytes;
    return unstored;
  }

  /** `unstored`: the bytes under way during `tookMs`. A window that was never full does not grow. */
  #resize(tookMs: number, unstored: number): void {
    if (tookMs > LATE_MS) this.#bytes = Math.max(LEAST_BYTES, Math.min(this.#bytes, unstored) * SHRINKS);
    else if (this.#wasFull && tookMs < SOON_MS) this.#bytes *= GROWS;
    this.#wasFull = false;
  }

  /** Whether a backlog of an outage becomes shorter by itself: until it is short. */
  #compare(now: number): void {
    const { since } = this;
    const before = this.#before;
    this.#before = { since, at: now };
    this.#isCatchingUp =
      now - since > (this.#isCatchingUp ? LATE_MS : OUTAGE_MS) && before !== null && since - before.since > CATCHING_UP * (now - before.at);
  }
}

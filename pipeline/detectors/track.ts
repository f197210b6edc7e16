import type { ByteReader, ByteWriter } from '../core/snapshot-bytes.ts';
import { CountRing } from './count-ring.ts';
import { Headroom } from './headroom.ts';
import { BINS, Residuals } from './residuals.ts';
import { Slab } from './slab.ts';
import { anscombe } from './statistics.ts';

/** The lengths of windows that are compared with what is expected. Minutes. */
export const SCALES = [1, 3, 5, 15, 60] as const;
/** Minutes that are kept one by one, and spans of five minutes that are kept of a day and somewhat more. */
const MINUTES = 208;
const SPAN = 5;
const SPANS = 328;
export const DAY = 1440;
/** Where residuals begin in the slab of a track, behind its rings. */
const RESIDUALS = 2 * MINUTES + SPANS;
/** A window is compared with the hour that ended so long before it began. Minutes. */
const GAP = 3;
const HOUR = 60;
/** The least part of an hour that shows what is usual. */
const LEAST = 30;
/** How much longer yesterday's window is taken on both sides. Minutes. */
const AROUND = 7;
/** How much of yesterday's level today may have. */
const MOST_OFFSET = 4;
/** What a level is compared with is never nothing. Entries. */
const SOME = 4;
/** How far a minute was from what is usual is learned so much later, when it is known whether it was unusual. Minutes. */
const DELAY = 20;
/** The long run: after three days, what was counts half. Minutes. */
const LONG = 3 * DAY;
/** A median of fewer entries a minute means little. */
const LEAST_MEDIAN = 3;
/** After this number of minutes without an entry nothing is expected. */
const EMPTY = SPAN * SPANS + HOUR;
/** A series without a minute for this long begins again. */
const FORGOTTEN = DAY;

/** What a window is expected to have: by the hour before it, and by the same time of yesterday at today's level. Entries, not a minute's. */
export type Expected = { readonly recent: number; readonly yesterday: number | null };

/** A window against what is expected: entries, the higher and the lower expectation, and how far it is above and below, in standard deviations. */
export type Compared = {
  readonly entries: number;
  readonly high: number;
  readonly low: number;
  readonly above: number;
  readonly below: number;
};

/** The counts of one series by minute, and what is usual of them. Minutes are closed in their order, each once; it is learned then. */
export class Track {
  /** The first minute, and the last one that was closed; -1 where there is none. */
  begin = -1;
  closed = -1;
  /** The newest minute that a call has given. */
  newest = -1;
  readonly #slab = new Slab(RESIDUALS + 2 * SCALES.length * BINS);
  readonly above = SCALES.map((_width, scale) => new Residuals(this.#slab, RESIDUALS + scale * BINS));
  readonly below = SCALES.map((_width, scale) => new Residuals(this.#slab, RESIDUALS + (SCALES.length + scale) * BINS));
  readonly headroom = new Headroom();
  /** The newest minute that had an entry; -1 for none. */
  #lastEntry = -1;
  /** The newest minute that has a place. */
  #head = -1;
  readonly #came = new CountRing(MINUTES, this.#slab);
  readonly #learned = new CountRing(MINUTES, this.#slab, MINUTES);
  readonly #day = new CountRing(SPANS, this.#slab, 2 * MINUTES);
  #long = { entries: 0, minutes: 0 };
  #median = 0;
  /** The last minutes that were unusual. */
  #unusual = { from: -1, to: -1 };

  /** Minutes that were closed. */
  get age(): number {
    return this.begin < 0 ? 0 : this.closed - this.begin + 1;
  }

  /** What came in a minute; 0 of one that is not kept. */
  at(minute: number): number {
    return this.#isKept(minute) ? this.#came.at(minute) : 0;
  }

  /** The entries a minute of the long run, and of how many minutes. */
  get long(): { readonly entries: number; readonly minutes: number } {
    return this.#long;
  }

  /** Adds what came of a minute. A closed one is corrected in what was learned; one that is not kept any more is passed over. */
  add(minute: number, entries: number): void {
    if (this.begin < 0 || minute > this.newest + FORGOTTEN) this.#start(minute);
    if (minute > this.#head) this.#advance(minute);
    if (!this.#isKept(minute)) return;
    if (minute > this.newest) {
      this.newest = minute;
      this.headroom.spend();
    }
    if (entries > 0) this.#lastEntry = Math.max(this.#lastEntry, minute);
    this.#came.add(minute, entries);
    if (minute <= this.closed) this.#learn(minute, this.#learned.at(minute) + entries);
    else if (entries > 0) this.headroom.take(entries);
  }

  /** The next minute is its first one. */
  forget(): void {
    this.begin = -1;
  }

  /** Closes the next minute, as a usual one or, with `instead`, as one that does not count for what is usual. */
  close(instead: number | null): void {
    const minute = this.closed + 1;
    if (minute > this.#head) this.#advance(minute);
    if (minute % SPAN === 0) this.#day.set(minute / SPAN, 0);
    this.closed = minute;
    this.#learned.set(minute, 0);
    const came = this.#came.at(minute);
    this.#learn(minute, instead ?? came);
    this.#median = this.#isEmpty || this.#lastEntry < minute - EMPTY ? 0 : this.#medianOfHour();
    if (instead === null) this.#long = longer(this.#long, came);
    else this.#leaveOut(minute);
    this.#remember(minute - DELAY);
  }

  /** Takes back, from the oldest on, what was learned of a minute that was closed. */
  relearn(minute: number, entries: number): void {
    if (minute > this.closed || minute <= this.closed - HOUR * 3 || minute < this.begin) return;
    this.#learn(minute, entries);
    this.#leaveOut(minute);
  }

  /** Takes what came in the last three hours as usual. */
  accept(): void {
    for (let minute = Math.max(this.begin, this.closed - 3 * HOUR + 1); minute <= this.closed; minute++)
      this.#learn(minute, this.at(minute));
  }

  /** What a minute had that an hour earlier, or a day earlier at this part of yesterday's level, was usual. */
  usual(minute: number, offset: number | null): number {
    if (offset !== null && this.#hasYesterday(minute, 1)) return this.#yesterday(minute - DAY, minute - DAY + 1) * offset;
    const before = minute - HOUR;
    return before >= this.begin && before > this.closed - MINUTES + 8 ? this.#learned.at(before) : 0;
  }

  /** How many minutes of the hour before a window are known; 0 or less for none. */
  #knownBefore(end: number, width: number): number {
    return this.begin < 0 ? 0 : Math.min(HOUR, end - width + 1 - GAP - this.begin);
  }

  /** Today's level as a part of yesterday's, by the hour before a window; null in the first day. */
  offset(end: number, width: number): number | null {
    const to = end - width + 1 - GAP;
    if (!this.#hasYesterday(to - HOUR, 1)) return null;
    const [now, then] = [this.#sumLearned(to - HOUR, to), this.#yesterday(to - DAY - HOUR, to - DAY)];
    return Math.min(MOST_OFFSET, Math.max(1 / MOST_OFFSET, (now + SOME) / (then + SOME)));
  }

  /** What the window of `width` minutes that ends with `end` is expected to have; null while too little is known. */
  expect(end: number, width: number): Expected | null {
    const known = this.#knownBefore(end, width);
    if (known < LEAST) return null;
    const to = end - width + 1 - GAP;
    const recent = (this.#sumLearned(to - known, to) / known) * width;
    const offset = known < HOUR || !this.#hasYesterday(to - HOUR, AROUND) ? null : this.offset(end, width);
    if (offset === null) return { recent, yesterday: null };
    const [from, until] = [end - DAY - width + 1 - AROUND, end - DAY + 1 + AROUND];
    return { recent, yesterday: (this.#yesterday(from, until) / (until - from)) * width * offset };
  }

  /**
   * The window of `width` minutes that ends with `end`, against what is expected. `isRaw`: with what came in minutes that were closed as unusual,
   * too. What leaves only one of the expectations is not far from either.
   */
  compare(end: number, width: number, isRaw: boolean): Compared | null {
    const expected = this.expect(end, width);
    if (expected === null) return null;
    const { recent, yesterday } = expected;
    const high = Math.max(recent, yesterday ?? 0);
    const lower = Math.min(recent, yesterday ?? Infinity);
    const low = this.#median >= LEAST_MEDIAN ? Math.min(lower, this.#median * width) : lower;
    const entries = isRaw ? this.sum(end - width + 1, end + 1) : this.#sumUsual(end - width + 1, end + 1);
    return { entries, high, low, above: anscombe(entries) - anscombe(high), below: anscombe(low) - anscombe(entries) };
  }

  /** What came from `from` on and before `to`. */
  sum(from: number, to: number): number {
    return this.#came.sum(Math.max(from, this.begin), to);
  }

  write(to: ByteWriter): void {
    for (const number of [this.begin, this.closed, this.newest, this.#lastEntry, this.#head, this.#unusual.from, this.#unusual.to, this.#long.entries, this.#long.minutes, Math.round(this.#median)]) to.count(number + 1); // prettier-ignore
    for (const ring of [this.#came, this.#learned, this.#day]) ring.write(to);
    for (const residuals of [...this.above, ...this.below]) residuals.write(to);
  }

  /** What `write` wrote; throws CutOff where it is anything else. */
  static read(from: ByteReader): Track {
    const read = new Track();
    const number = (): number => from.count() - 1;
    [read.begin, read.closed, read.newest, read.#lastEntry, read.#head] = [number(), number(), number(), number(), number()];
    read.#unusual = { from: number(), to: number() };
    read.#long = { entries: number(), minutes: number() };
    read.#median = number();
    for (const ring of [read.#came, read.#learned, read.#day]) ring.read(from);
    for (const all of [read.above, read.below]) for (let scale = 0; scale < SCALES.length; scale++) all[scale]?.read(from);
    return read;
  }

  #isKept(minute: number): boolean {
    return minute >= this.begin && minute <= this.#head && minute > this.#head - MINUTES;
  }

  #start(minute: number): void {
    this.begin = minute;
    this.closed = minute - 1;
    this.newest = minute;
    this.#head = minute;
    for (const ring of [this.#came, this.#learned, this.#day]) ring.clear();
  }

  #advance(minute: number): void {
    for (let fresh = Math.max(this.#head + 1, minute - MINUTES + 1); fresh <= minute; fresh++) this.#came.set(fresh, 0);
    this.#head = minute;
  }

  /** What is usual of a minute, alone and in its span of the day. */
  #learn(minute: number, entries: number): void {
    this.headroom.forget();
    const before = this.#learned.at(minute);
    this.#learned.set(minute, entries);
    const span = Math.floor(minute / SPAN);
    this.#day.set(span, Math.max(0, this.#day.at(span) - before + this.#learned.at(minute)));
  }

  /** How far a usual minute, and the windows that end with it, were from what was expected of them. */
  #remember(minute: number): void {
    const { from, to } = this.#unusual;
    if (minute - this.begin < HOUR || (minute >= from && minute <= to)) return;
    if (this.#lastEntry < minute - EMPTY) {
      // nothing is expected, and nothing came
      for (const residuals of [...this.above, ...this.below]) residuals.add(0);
      return;
    }
    SCALES.forEach((width, scale) => {
      const compared = this.#isEmpty ? this.#nothing(minute, width) : this.compare(minute, width, false);
      if (compared === null) return;
      (this.above[scale] as Residuals).add(compared.above);
      (this.below[scale] as Residuals).add(compared.below);
    });
  }

  /** True of a series that never had an entry, as that of the errors of most streams. */
  get #isEmpty(): boolean {
    return this.#lastEntry < this.begin;
  }

  /** What `compare` returns for a series that never had an entry, without looking. */
  #nothing(end: number, width: number): Pick<Compared, 'above' | 'below'> | null {
    return this.#knownBefore(end, width) < LEAST ? null : { above: 0, below: 0 };
  }

  /** A minute that is not part of what is usual, behind the one before. */
  #leaveOut(minute: number): void {
    const { from, to } = this.#unusual;
    this.#unusual = minute > to + DELAY ? { from: minute, to: minute } : { from, to: Math.max(to, minute) };
  }

  #hasYesterday(minute: number, around: number): boolean {
    return minute - DAY - around >= this.begin && this.closed >= minute - DAY + around;
  }

  /** What was usual between two minutes of the day that is kept by spans. */
  #yesterday(from: number, to: number): number {
    let sum = 0;
    for (let span = Math.floor(from / SPAN); span * SPAN < to; span++) {
      const part = Math.min(to, span * SPAN + SPAN) - Math.max(from, span * SPAN);
      sum += (this.#day.at(span) * part) / SPAN;
    }
    return sum;
  }

  #sumLearned(from: number, to: number): number {
    return this.#learned.sum(Math.max(from, this.begin), Math.min(to, this.closed + 1));
  }

  /** What was learned of closed minutes, and what came in the others. */
  #sumUsual(from: number, to: number): number {
    return this.#sumLearned(from, to) + this.#came.sum(Math.max(from, this.closed + 1, this.begin), to);
  }

  #medianOfHour(): number {
    const from = Math.max(this.begin, this.closed - HOUR);
    if (this.#learned.sum(from, this.closed) < (LEAST_MEDIAN * (this.closed - from)) / 2) return 0;
    return this.#learned.median(from, this.closed);
  }
}

/** The long run with one more minute. */
function longer({ entries, minutes }: Track['long'], came: number): Track['long'] {
  const half = minutes >= LONG ? 2 : 1;
  return { entries: Math.round(entries / half) + Math.round(came), minutes: Math.round(minutes / half) + 1 };
}

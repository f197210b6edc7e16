import { CutOff, type ByteReader, type ByteWriter } from '../core/snapshot-bytes.ts';
import { DAY, SCALES, type Track } from './track.ts';

/** The days that are remembered: a week, and the one that has begun. */
const DAYS = 8;
const HOUR = 60;
const MOST = Number.MAX_SAFE_INTEGER;
/** More hours than there ever are. */
const MOST_HOUR = 1e8;

const none = (length: number): number[] => new Array<number>(length).fill(0);

/**
 * The most that came in windows of each length, day by day for a week: what has been there is known. The hour that has begun and the one before are
 * not part of it: a rise is not compared with itself.
 */
export class Peaks {
  /** The hour (since 1970) of the last minute that was taken, and the last day that has a place; -1 for none. */
  #hour = -1;
  #day = -1;
  /** By length of the windows: the most in this hour, in the one before, and by day. */
  #now = none(SCALES.length);
  #before = none(SCALES.length);
  readonly #days = SCALES.map(() => none(DAYS));

  /** Takes the windows that end with a minute. Minutes come in their order. */
  take(track: Track, minute: number): void {
    const hour = Math.floor(minute / HOUR);
    if (hour !== this.#hour) this.#begin(hour);
    SCALES.forEach((scale, index) => {
      const came = Math.min(MOST, Math.round(track.sum(minute - scale + 1, minute + 1)));
      if (came > (this.#now[index] as number)) this.#now[index] = came;
    });
  }

  /** The most of all windows of `scale` minutes, one of `SCALES`. */
  most(scale: number): number {
    return Math.max(0, ...(this.#days[SCALES.findIndex((one) => one === scale)] ?? []));
  }

  write(to: ByteWriter): void {
    for (const number of [this.#hour + 1, this.#day + 1, ...this.#now, ...this.#before, ...this.#days.flat()]) to.count(number);
  }

  /** What `write` wrote; throws CutOff where it is anything else. */
  static read(from: ByteReader): Peaks {
    const read = new Peaks();
    [read.#hour, read.#day] = [from.count() - 1, from.count() - 1];
    if (read.#hour > MOST_HOUR || read.#day > MOST_HOUR) throw new CutOff();
    for (const list of [read.#now, read.#before, ...read.#days]) list.forEach((_none, at) => (list[at] = from.count()));
    return read;
  }

  /** An hour begins: what is two hours old goes into its day. */
  #begin(hour: number): void {
    const last = this.#hour;
    if (last >= 0) this.#keep(last - 1, this.#before);
    if (last >= 0 && hour > last + 1) this.#keep(last, this.#now);
    this.#before = hour === last + 1 ? this.#now : none(SCALES.length);
    this.#now = none(SCALES.length);
    this.#hour = hour;
  }

  #keep(hour: number, most: readonly number[]): void {
    const day = Math.floor((hour * HOUR) / DAY);
    for (let fresh = Math.max(this.#day + 1, day - DAYS + 1); fresh <= day; fresh++) for (const days of this.#days) days[fresh % DAYS] = 0;
    this.#day = Math.max(this.#day, day);
    this.#days.forEach((days, index) => (days[day % DAYS] = Math.max(days[day % DAYS] as number, most[index] as number)));
  }
}

import { ByteReader, ByteWriter, unlessDamaged } from '../../core/snapshot-bytes.ts';
import { FACTORS, type Finding, type Sensitivity, unlimited, type CatchUp } from '../detector.ts';
import type { Episode } from '../episode.ts';
import { patternDetectors } from '../index.ts';
import { Peaks } from '../peaks.ts';
import { CAUGHT_UP, LIVE, OPEN, WatchedTrack } from './series.ts';

const MINUTE_MS = 60_000;
const VERSION = 1;

/**
 * What is remembered of the error entries of one template, and what is found of them, as of a `Series`: no clock, no chance, no IO, at most 2 KiB.
 * Rises alone are looked for, in minutes whose counts are final, four minutes after they began: then it is known if their streams rise too.
 */
export class PatternSeries {
  readonly #watched: WatchedTrack;
  readonly #peaks: Peaks;
  /** The newest minute that a call has given. */
  #now = 0;

  constructor(watched = new WatchedTrack(), peaks = new Peaks()) {
    [this.#watched, this.#peaks] = [watched, peaks];
    watched.onClose = (minute) => peaks.take(watched.track, minute);
  }

  /** What fires, whether a user has resolved it or not; null for nothing. */
  get open(): Episode | null {
    return this.#watched.open;
  }

  /** Adds what has come of a minute: an increment. `appendedAt`: milliseconds. A minute of the future counts as that of `appendedAt`. */
  add(minute: number, errors: number, appendedAt: number, catchUp?: CatchUp): void {
    this.#watched.add(Math.min(minute, Math.floor(appendedAt / MINUTE_MS)), errors, catchUp);
  }

  /** Advances the time and returns what was found since the last tick: once a minute. */
  tick(
    appendedAt: number,
    sensitivity: (detector: string) => Sensitivity = () => 'normal',
    catchUp: CatchUp = unlimited(),
  ): readonly Finding[] {
    this.#now = Math.max(this.#now, Math.floor(appendedAt / MINUTE_MS));
    const watched = this.#watched;
    const { track } = watched;
    const found: Finding[] = [];
    const own = patternDetectors.members.filter(({ name }) => sensitivity(name) !== 'off');
    const settled = track.begin < 0 ? -1 : Math.min(this.#now - OPEN - 1, track.newest + LIVE);
    if (!watched.mayClose(settled, catchUp)) return found;
    while (track.closed < settled) {
      watched.close();
      const end = track.closed;
      if (end < this.#now - OPEN - 1 - CAUGHT_UP) continue;
      for (const { name, rise } of own) {
        const rises = rise({ track, peaks: this.#peaks }, end, FACTORS[sensitivity(name)], watched.open !== null);
        if (rises !== null) found.push(...watched.fire(name, 'up', end, rises));
      }
      found.push(...watched.calm(end));
    }
    return found;
  }

  /** What fires gives no more findings before it was back within its baseline. */
  mute(detector: string): void {
    this.#watched.mute(detector, 'up');
  }

  /** What came in the minutes up to one, the newest last. */
  recent(end: number, minutes: number): readonly number[] {
    return Array.from({ length: minutes }, (_none, index) => this.#watched.track.at(end - minutes + 1 + index));
  }

  /** A state that `restore` reads. */
  snapshot(): Buffer {
    const to = new ByteWriter();
    to.count(VERSION);
    to.count(this.#now);
    this.#watched.write(to);
    this.#peaks.write(to);
    return to.finish();
  }

  /** The series of a snapshot; null for any other bytes. */
  static restore(bytes: Buffer): PatternSeries | null {
    const from = new ByteReader(bytes);
    return unlessDamaged(() => {
      if (from.count() !== VERSION) return null;
      const now = from.count();
      const read = new PatternSeries(WatchedTrack.read(from), Peaks.read(from));
      read.#now = now;
      return from.isAtEnd ? read : null;
    });
  }
}

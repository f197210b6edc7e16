import { ByteReader, ByteWriter, unlessDamaged } from '../../core/snapshot-bytes.ts';
import { isCalm, type Found, departureOf } from '../departures.ts';
import {
  type Finding,
  type Side,
  unlimited,
  type CatchUp,
  type CountDetector,
  type Tracks,
  FACTORS,
  type Counts,
  type Firing,
  type Sensitivity,
  type Series,
} from '../detector.ts';
import { Episodes, type Episode } from '../episode.ts';
import { DAY, Track } from '../track.ts';
import { detectors } from '../index.ts';

const MINUTE_MS = 60_000;
/** How much later than its minute is closed a fall is reported: a shipper that stalls has not fallen silent. Minutes. */
const PATIENCE = 7;
/** Where the newest entries are `LATE`, their shipper is catching up: what is behind them is waited for, for `CATCHING_UP`. Minutes. */
const LATE = 4;
const CATCHING_UP = 10;
const VERSION = 3;
/** That of a release that did not wait for late entries. */
const FORMER_VERSION = 2;

const KINDS = ['entries', 'errors'] as const;
const DETECTORS = {
  entries: detectors.members.filter(({ counts }) => counts === 'entries'),
  errors: detectors.members.filter(({ counts }) => counts === 'errors'),
};

/** Which detectors are called, and how many minutes may be closed. */
type Looking = { readonly own: readonly CountDetector[]; readonly factorOf: (name: string) => number; readonly catchUp: CatchUp };

const isDue = ({ track, open }: WatchedTrack): boolean => track.headroom.isSpent || open !== null;

export function newSeries(): Series {
  return new CountSeries();
}

/** The series of a snapshot; null for any other bytes. */
export function restoreSeries(bytes: Buffer): Series | null {
  return unlessDamaged(() => CountSeries.read(new ByteReader(bytes)));
}

/** What a snapshot is written into: thousands are taken at a time. */
const scratch = new ByteWriter();

class CountSeries implements Series {
  readonly #watched: Readonly<Record<keyof Tracks, WatchedTrack>>;
  readonly #tracks: Tracks;
  /** The newest minute that a call has given. */
  #now = 0;
  /** When its newest entry came, and how late that was. Minutes. */
  #came = { at: 0, late: 0 };

  constructor(entries = new WatchedTrack(), errors = new WatchedTrack()) {
    this.#watched = { entries, errors };
    this.#tracks = { entries: entries.track, errors: errors.track };
  }

  get isDue(): boolean {
    const { entries, errors } = this.#watched;
    return isDue(entries) || isDue(errors);
  }

  add(minute: number, { entries, errors }: Counts, appendedAt: number, catchUp?: CatchUp): void {
    const present = Math.floor(appendedAt / MINUTE_MS);
    const own = Math.min(minute, present);
    if (entries > 0 && own >= this.#tracks.entries.newest) this.#came = { at: present, late: present - own };
    this.#watched.entries.add(own, entries, catchUp);
    this.#watched.errors.add(own, errors, catchUp);
  }

  tick(
    appendedAt: number,
    sensitivity: (detector: string) => Sensitivity = () => 'normal',
    catchUp: CatchUp = unlimited(),
  ): readonly Finding[] {
    this.#now = Math.max(this.#now, Math.floor(appendedAt / MINUTE_MS));
    const found: Finding[] = [];
    for (const kind of KINDS) {
      const own = DETECTORS[kind].filter(({ name }) => sensitivity(name) !== 'off');
      found.push(...this.#look(kind, this.#now, { own, factorOf: (name) => FACTORS[sensitivity(name)], catchUp }));
      this.#watched[kind].track.headroom.look();
    }
    return found;
  }

  mute(detector: string, side: Side): void {
    for (const kind of KINDS) this.#watched[kind].mute(detector, side);
  }

  recent(detector: string, end: number, minutes: number): readonly number[] {
    const track = this.#tracks[detectors.find(detector)?.counts ?? 'entries'];
    return Array.from({ length: minutes }, (_none, index) => track.at(end - minutes + 1 + index));
  }

  firing(detector: string): Firing | null {
    return this.#watched[detectors.find(detector)?.counts ?? 'entries'].open;
  }

  departure(detector: string, side: Side, { start, end }: Finding['window']): number | null {
    return departureOf(this.#tracks[detectors.find(detector)?.counts ?? 'entries'], end, end - start + 1, side);
  }

  snapshot(): Buffer {
    const to = scratch;
    to.clear();
    to.count(VERSION);
    to.count(this.#now);
    to.count(this.#came.at);
    to.count(this.#came.late);
    for (const kind of KINDS) this.#watched[kind].write(to);
    return Buffer.from(to.finish());
  }

  static read(from: ByteReader): CountSeries | null {
    const version = from.count();
    if (version !== VERSION && version !== FORMER_VERSION) return null;
    const now = from.count();
    const came = version === VERSION ? { at: from.count(), late: from.count() } : { at: 0, late: 0 };
    const read = new CountSeries(WatchedTrack.read(from), WatchedTrack.read(from));
    if (!from.isAtEnd) return null;
    read.#now = now;
    read.#came = came;
    return read;
  }

  /** Closes the minutes that are over, and calls the detectors of one kind of counts. */
  #look(kind: keyof Tracks, now: number, { own, factorOf, catchUp }: Looking): Finding[] {
    const watched = this.#watched[kind];
    const { track } = watched;
    const found: Finding[] = [];
    if (track.begin < 0) return found;
    const settled = Math.min(now - OPEN - 1, this.#isCatchingUp(now) ? this.#tracks.entries.newest : track.newest + LIVE);
    if (!watched.mayClose(settled, catchUp)) return found;
    while (track.closed < settled) {
      watched.close();
      if (track.closed < now - OPEN - 1 - CAUGHT_UP) continue;
      const end = track.closed - PATIENCE;
      for (const detector of own) {
        const fall = detector.fall?.(this.#tracks, end, factorOf(detector.name), watched.open !== null) ?? null;
        if (fall !== null) found.push(...watched.fire(detector.name, 'down', end, fall));
      }
      // what came of a rise is known at once to be over; a fall is looked at so much later
      found.push(...watched.calm(watched.open?.side === 'up' ? track.closed : end));
    }
    for (const end of [now - 1, now]) {
      if (end <= track.closed) continue;
      for (const detector of own) {
        const rise = detector.rise?.(this.#tracks, end, factorOf(detector.name), watched.open !== null) ?? null;
        if (rise !== null) found.push(...watched.fire(detector.name, 'up', end, rise));
      }
    }
    return found;
  }

  /** What came last was late, and not long ago: a silence must not be reported while entries are still to come. */
  #isCatchingUp(now: number): boolean {
    const { at, late } = this.#came;
    return late >= LATE && now < at + CATCHING_UP;
  }
}

/** A minute is closed so long after it has ended, by append time. Minutes. */
export const OPEN = 3;
/** A series whose newest entry is older gets its past, or has ended: its minutes are closed when more of them come. Minutes. */
export const LIVE = 90;
/** The most minutes that a tick closes as if they had been looked at in time. */
export const CAUGHT_UP = 30;
/** Minutes that are open at most. */
const MOST_OPEN = 100;
const CARRY_UNIT = 1_000_000;

/** Counts of one kind by minute, and what fires of them: minutes in which something does are not learned. */
export class WatchedTrack {
  readonly track: Track;
  /** Called for each minute that was closed. */
  onClose: (minute: number) => void = () => undefined;
  #episodes = new Episodes();
  #carry = 0;

  constructor(track = new Track()) {
    this.track = track;
  }

  /** What fires; null for nothing. */
  get open(): Episode | null {
    return this.#episodes.open;
  }

  /** Adds what came of a minute that is not of the future. Where more minutes are behind than may be closed, the series begins again. */
  add(minute: number, count: number, catchUp: CatchUp = unlimited()): void {
    const { track } = this;
    // nothing of a minute that is known
    if (count === 0 && track.begin >= 0 && minute <= track.newest) return;
    // at most `MOST_OPEN` minutes are kept open, also where the past comes at once
    const behind = track.begin < 0 || minute > track.newest + DAY ? 0 : minute - MOST_OPEN - track.closed;
    if (behind > catchUp.left) track.forget();
    else if (behind > 0) {
      catchUp.left -= behind;
      while (track.closed < minute - MOST_OPEN) this.close();
    }
    track.add(minute, count);
  }

  /** Whether the minutes up to this one may be closed; those of which few are behind always may. */
  mayClose(minute: number, catchUp: CatchUp): boolean {
    const behind = minute - this.track.closed;
    if (behind <= CAUGHT_UP) return true;
    if (catchUp.left <= 0) return false;
    catchUp.left -= behind;
    return true;
  }

  /** Closes the next minute: of what fires, what was usual is learned instead. */
  close(): void {
    const { track, open } = this;
    const minute = track.closed + 1;
    if (open === null || minute < open.startedAt) track.close(null);
    else {
      const usual = track.usual(minute, open.offset) + this.#carry;
      this.#carry = usual - Math.floor(usual);
      track.close(Math.floor(usual));
    }
    this.onClose(minute);
  }

  /** Takes what was found at a minute; returns its findings. */
  fire(detector: string, side: Side, end: number, found: Found): Finding[] {
    const { track } = this;
    const wasOpen = this.open !== null;
    const finding = this.#episodes.fire(detector, side, end, found, track.offset(end, found.scale));
    const { open } = this;
    if (!wasOpen && open !== null)
      for (let minute = end - found.scale + 1; minute <= Math.min(end, track.closed); minute++) {
        const [usual, came] = [track.usual(minute, open.offset), track.at(minute)];
        track.relearn(minute, side === 'up' ? Math.min(came, usual) : Math.max(came, usual));
      }
    return finding === null ? [] : [finding];
  }

  /** Looks whether what fires was calm at a minute; returns its findings. */
  calm(end: number): Finding[] {
    const { track, open } = this;
    if (open === null) return [];
    const { finding, isUsual } = this.#episodes.look(end, isCalm(track, end, open.side));
    if (isUsual) track.accept();
    return finding === null ? [] : [finding];
  }

  /** What fires of this detector and side is not to be reported. */
  mute(detector: string, side: Side): void {
    this.#episodes.mute(detector, side);
    this.track.headroom.forget();
  }

  write(to: ByteWriter): void {
    this.track.write(to);
    this.#episodes.write(to);
    to.count(Math.round(this.#carry * CARRY_UNIT));
  }

  /** What `write` wrote; throws where it is anything else. */
  static read(from: ByteReader): WatchedTrack {
    const read = new WatchedTrack(Track.read(from));
    read.#episodes = Episodes.read(from);
    read.#carry = from.count() / CARRY_UNIT;
    return read;
  }
}

import { ByteReader, ByteWriter, CutOff } from '../../core/snapshot-bytes.ts';
import type { CountDetector, Tracks } from '../count-detector.ts';
import { departureOf, isCalm, type Found } from '../departures.ts';
import type { Counts, Finding, Firing, Sensitivity, Series, Side } from '../detector.ts';
import { Episodes } from '../episode.ts';
import { detectors } from '../index.ts';
import { DAY, Track } from '../track.ts';

const MINUTE_MS = 60_000;
/** A minute is closed so long after it has ended, by append time; a fall is told so much later: a shipper that stalls has not fallen silent. Minutes. */
const OPEN = 3;
const PATIENCE = 7;
/** A series whose newest entry is older is told its past, or has ended: its minutes are closed when more of them come. Minutes. */
const LIVE = 90;
/** Minutes that are open at most. */
const MOST_OPEN = 100;
/** Where the newest entries are so late, whoever ships them is catching up: what is behind them is waited for, for so long. Minutes. */
const LATE = 4;
const CATCHING_UP = 10;
/** So many minutes at most are closed by a tick as if they had been looked at in time. */
const CAUGHT_UP = 30;
const VERSION = 3;
/** That of a release that did not wait for late entries. */
const FORMER_VERSION = 2;

const FACTORS: Readonly<Record<Sensitivity, number>> = { off: Infinity, low: 1.3, normal: 1, high: 0.8 };

/** The counts of one kind of a series, and their alerts. */
type Watched = { readonly track: Track; episodes: Episodes; carry: number };

const KINDS = ['entries', 'errors'] as const;
const DETECTORS = {
  entries: detectors.members.filter(({ counts }) => counts === 'entries'),
  errors: detectors.members.filter(({ counts }) => counts === 'errors'),
};

const isDue = ({ track, episodes }: Watched): boolean => track.headroom.isSpent || episodes.open !== null;

export function newSeries(): Series {
  return new CountSeries();
}

/** The series of a snapshot; null for any other bytes. */
export function restoreSeries(bytes: Buffer): Series | null {
  try {
    return CountSeries.read(new ByteReader(bytes));
  } catch (error) {
    if (error instanceof CutOff || error instanceof SyntaxError || error instanceof TypeError) return null;
    throw error;
  }
}

class CountSeries implements Series {
  #watched: Readonly<Record<keyof Tracks, Watched>>;
  #tracks: Tracks;
  /** The newest minute that was told. */
  #now = 0;
  /** When its newest entry came, and how late that was. Minutes. */
  #came = { at: 0, late: 0 };

  constructor(entries = new Track(), errors = new Track()) {
    const watch = (track: Track): Watched => ({ track, episodes: new Episodes(), carry: 0 });
    this.#watched = { entries: watch(entries), errors: watch(errors) };
    this.#tracks = { entries, errors };
  }

  get isDue(): boolean {
    const { entries, errors } = this.#watched;
    return isDue(entries) || isDue(errors);
  }

  add(minute: number, { entries, errors }: Counts, appendedAt: number): void {
    const present = Math.floor(appendedAt / MINUTE_MS);
    const own = Math.min(minute, present);
    if (entries > 0 && own >= this.#tracks.entries.newest) this.#came = { at: present, late: present - own };
    this.#add(this.#watched.entries, own, entries);
    this.#add(this.#watched.errors, own, errors);
  }

  #add(watched: Watched, own: number, count: number): void {
    const { track } = watched;
    // nothing of a minute that is known
    if (count === 0 && track.begin >= 0 && own <= track.newest) return;
    // so many minutes are kept open at most, also where the past is told at once
    while (track.begin >= 0 && track.closed < own - MOST_OPEN && own <= track.newest + DAY) this.#close(watched);
    track.add(own, count);
  }

  tick(appendedAt: number, sensitivity: (detector: string) => Sensitivity = () => 'normal'): readonly Finding[] {
    this.#now = Math.max(this.#now, Math.floor(appendedAt / MINUTE_MS));
    const found: Finding[] = [];
    for (const kind of KINDS) {
      const own = DETECTORS[kind].filter(({ name }) => sensitivity(name) !== 'off');
      found.push(...this.#look(kind, this.#now, own, (name) => FACTORS[sensitivity(name)]));
      this.#watched[kind].track.headroom.look();
    }
    return found;
  }

  resolve(detector: string, side: Side): void {
    for (const kind of KINDS) {
      this.#watched[kind].episodes.mute(detector, side);
      this.#watched[kind].track.headroom.forget();
    }
  }

  recent(detector: string, end: number, minutes: number): readonly number[] {
    const track = this.#tracks[detectors.find(detector)?.counts ?? 'entries'];
    return Array.from({ length: minutes }, (_none, index) => track.at(end - minutes + 1 + index));
  }

  firing(detector: string): Firing | null {
    return this.#watched[detectors.find(detector)?.counts ?? 'entries'].episodes.open;
  }

  departure(detector: string, side: Side, { start, end }: Finding['window']): number | null {
    return departureOf(this.#tracks[detectors.find(detector)?.counts ?? 'entries'], end, end - start + 1, side);
  }

  snapshot(): Buffer {
    const to = new ByteWriter();
    to.count(VERSION);
    to.count(this.#now);
    to.count(this.#came.at);
    to.count(this.#came.late);
    for (const kind of KINDS) {
      const { track, episodes, carry } = this.#watched[kind];
      track.write(to);
      episodes.write(to);
      to.count(Math.round(carry * 1_000_000));
    }
    return to.finish();
  }

  static read(from: ByteReader): CountSeries | null {
    const version = from.count();
    if (version !== VERSION && version !== FORMER_VERSION) return null;
    const now = from.count();
    const came = version === VERSION ? { at: from.count(), late: from.count() } : { at: 0, late: 0 };
    const parts = KINDS.map(() => ({ track: Track.read(from), episodes: Episodes.read(from), carry: from.count() / 1_000_000 }));
    if (!from.isAtEnd) return null;
    const [entries, errors] = parts as [(typeof parts)[0], (typeof parts)[0]];
    const read = new CountSeries(entries.track, errors.track);
    read.#now = now;
    read.#came = came;
    read.#watched = { entries, errors };
    return read;
  }

  /** Closes the minutes that are over, and asks the detectors of one kind of counts. */
  #look(kind: keyof Tracks, now: number, own: readonly CountDetector[], factorOf: (name: string) => number): Finding[] {
    const watched = this.#watched[kind];
    const { track } = watched;
    const found: Finding[] = [];
    if (track.begin < 0) return found;
    const settled = Math.min(now - OPEN - 1, this.#isCatchingUp(now) ? this.#tracks.entries.newest : track.newest + LIVE);
    while (track.closed < settled) {
      this.#close(watched);
      if (track.closed < now - OPEN - 1 - CAUGHT_UP) continue;
      const end = track.closed - PATIENCE;
      for (const detector of own) {
        const fall = detector.fall?.(this.#tracks, end, factorOf(detector.name), watched.episodes.open !== null) ?? null;
        if (fall !== null) found.push(...this.#fire(watched, detector.name, 'down', end, fall));
      }
      // what came of a rise is known at once to be over; a fall is looked at so much later
      found.push(...this.#calm(watched, watched.episodes.open?.side === 'up' ? track.closed : end));
    }
    for (const end of [now - 1, now]) {
      if (end <= track.closed) continue;
      for (const detector of own) {
        const rise = detector.rise?.(this.#tracks, end, factorOf(detector.name), watched.episodes.open !== null) ?? null;
        if (rise !== null) found.push(...this.#fire(watched, detector.name, 'up', end, rise));
      }
    }
    return found;
  }

  /** What came last was late, and not long ago: no silence may be told of what has not come yet. */
  #isCatchingUp(now: number): boolean {
    const { at, late } = this.#came;
    return late >= LATE && now < at + CATCHING_UP;
  }

  /** Closes the next minute: of what fires, what was usual is learned instead. */
  #close(watched: Watched): void {
    const { track, episodes } = watched;
    const { open } = episodes;
    const minute = track.closed + 1;
    if (open === null || minute < open.startedAt) {
      track.close(null);
      return;
    }
    const usual = track.usual(minute, open.offset) + watched.carry;
    watched.carry = usual - Math.floor(usual);
    track.close(Math.floor(usual));
  }

  #fire(watched: Watched, detector: string, side: Side, end: number, found: Found): Finding[] {
    const { track, episodes } = watched;
    const wasOpen = episodes.open !== null;
    const finding = episodes.fire(detector, side, end, found, track.offset(end, found.scale));
    const { open } = episodes;
    if (!wasOpen && open !== null)
      for (let minute = end - found.scale + 1; minute <= Math.min(end, track.closed); minute++) {
        const [usual, came] = [track.usual(minute, open.offset), track.at(minute)];
        track.relearn(minute, side === 'up' ? Math.min(came, usual) : Math.max(came, usual));
      }
    return finding === null ? [] : [finding];
  }

  #calm({ track, episodes }: Watched, end: number): Finding[] {
    const { open } = episodes;
    if (open === null) return [];
    const { finding, isUsual } = episodes.look(end, isCalm(track, end, open.side));
    if (isUsual) track.accept();
    return finding === null ? [] : [finding];
  }
}

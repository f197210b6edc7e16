import type { ByteReader, ByteWriter } from '../../core/snapshot-bytes.ts';
import { isCalm, type Found } from '../departures.ts';
import type { Finding, Side } from '../detector.ts';
import { Episodes, type Episode } from '../episode.ts';
import { DAY, Track } from '../track.ts';
import { unlimited, type CatchUp } from './catch-up.ts';

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

import type { ByteReader, ByteWriter } from '../core/snapshot-bytes.ts';
import type { Found } from './departures.ts';
import type { Finding, Side } from './detector.ts';

/** Resolved after this number of calm minutes; what fires for half a day is usual from then on. Minutes. */
const CALM = 10;
const NEW_NORMAL = 720;
/** Firing again within `AGAIN` after it resolved itself is the same alert; the other side waits for `HELD`. Minutes. */
const AGAIN = 30;
const HELD = 75;
const SIDES: readonly Side[] = ['up', 'down'];

/** An alert of a series, that fires or has. */
export type Episode = {
  readonly detector: string;
  readonly side: Side;
  /** The minute at which it fired first, and the one of this time. */
  readonly firedAt: number;
  readonly startedAt: number;
  readonly fireCount: number;
  readonly hotAt: number;
  /** Minutes that were calm, the last ones. */
  readonly calm: number;
  /** Today's level as a part of yesterday's when it fired; null where there was no yesterday. */
  readonly offset: number | null;
  /** It is not to be reported: it gives no more findings. */
  readonly isMuted: boolean;
  readonly found: Found;
};

/** What has resolved itself, by side. */
type Past = { readonly detector: string; readonly firedAt: number; readonly fireCount: number; readonly resolvedAt: number };

/** When a series fires, and when it has come back. */
export class Episodes {
  #open: Episode | null = null;
  readonly #past: Record<Side, Past | null> = { up: null, down: null };

  get open(): Episode | null {
    return this.#open;
  }

  /** Takes what was found at a minute; returns the finding, if any. */
  fire(detector: string, side: Side, minute: number, found: Found, offset: number | null): Finding | null {
    const open = this.#open;
    if (open !== null)
      return open.side === side && open.detector === detector && minute > open.hotAt ? this.#goOn(open, minute, found) : null;
    const [own, other] = side === 'up' ? [this.#past.up, this.#past.down] : [this.#past.down, this.#past.up];
    if (other !== null && minute - other.resolvedAt < HELD) return null;
    const isAgain = own?.detector === detector && minute - own.resolvedAt < AGAIN;
    this.#open = {
      ...{
        detector,
        side,
        firedAt: isAgain ? own.firedAt : minute,
        startedAt: minute,
        hotAt: minute,
        calm: 0,
        offset,
        isMuted: false,
        found,
      },
      fireCount: isAgain ? own.fireCount + 1 : 1,
    };
    return findingOf(this.#open, 'firing', minute);
  }

  /** Takes whether a minute was calm. Gives a finding, and `isOver` where the episode has ended; `isUsual` where it is the new normal. */
  look(minute: number, isCalm: boolean): { readonly finding: Finding | null; readonly isOver: boolean; readonly isUsual: boolean } {
    const open = this.#open;
    if (open === null || minute <= open.startedAt) return NOTHING;
    const calm = isCalm ? open.calm + 1 : 0;
    const isUsual = minute - open.startedAt > NEW_NORMAL;
    this.#open = { ...open, calm };
    if (calm < CALM && !isUsual) return NOTHING;
    this.#open = null;
    const { detector, firedAt, fireCount, side, isMuted } = open;
    this.#past[side] = isMuted ? null : { detector, firedAt, fireCount, resolvedAt: minute };
    return { finding: isMuted ? null : findingOf(open, 'resolved', minute), isOver: true, isUsual };
  }

  /** Ends what fires, since it is no longer watched; returns the finding, if any. */
  end(minute: number): Finding | null {
    const open = this.#open;
    this.#open = null;
    if (open === null) return null;
    this.#past[open.side] = null;
    if (open.isMuted) return null;
    const finding: { quiet?: true } & Finding = findingOf(open, 'resolved', minute);
    delete finding.quiet;
    return finding;
  }

  /** What fires is not to be reported. */
  mute(detector: string, side: Side): void {
    if (this.#open?.detector === detector && this.#open.side === side) this.#open = { ...this.#open, isMuted: true };
    if (this.#past[side]?.detector === detector) this.#past[side] = null;
  }

  write(to: ByteWriter): void {
    to.text(Buffer.from(JSON.stringify([this.#open, this.#past.up, this.#past.down])).toString('latin1'));
  }

  /** What `write` wrote; throws where it is anything else. */
  static read(from: ByteReader): Episodes {
    const read = new Episodes();
    const [open, up, down] = JSON.parse(Buffer.from(from.text(), 'latin1').toString()) as [Episode | null, Past | null, Past | null];
    read.#open = open;
    [up, down].forEach((past, index) => (read.#past[SIDES[index] as Side] = past));
    return read;
  }

  #goOn(open: Episode, minute: number, found: Found): Finding | null {
    this.#open = { ...open, fireCount: open.fireCount + 1, hotAt: minute, calm: 0, found };
    return open.isMuted ? null : findingOf(this.#open, 'firing', minute);
  }
}

const NOTHING = { finding: null, isOver: false, isUsual: false } as const;

/** The other end of a band of which one end and the middle are known, on the scale of the square root. */
const mirrored = (mean: number, bound: number): number => Math.max(0, 2 * Math.sqrt(mean) - Math.sqrt(bound)) ** 2;

function findingOf({ detector, side, firedAt, fireCount, found }: Episode, state: Finding['state'], minute: number): Finding {
  const { z, value, mean, bound, scale } = found;
  const other = mirrored(mean, bound);
  return {
    ...{ detector, side, state, firedAt, fireCount, updatedAt: minute, z, value, mean, scale },
    expected: side === 'up' ? { low: other, high: bound } : { low: bound, high: other },
    window: { start: minute - scale + 1, end: minute },
    ...(state === 'resolved' ? { quiet: true as const } : {}),
  };
}

import type { Found } from './departures.ts';
import type { Track } from './track.ts';
import type { Peaks } from './peaks.ts';

/**
 * How many minutes may still be closed that are behind: an entry that comes a day after the one before closes 1,440 of them, so that a few
 * entries could take seconds of a process that works for all tenants.
 */
export type CatchUp = { left: number };

/** One partial may close this number of minutes, and `FOR_EACH` more for each count of a minute: a dense past is learned. */
const MOST_CLOSED = 10_000;
const FOR_EACH = 10;

/** For `counts` counts that come together. */
export const catchUpOf = (counts: number): CatchUp => ({ left: MOST_CLOSED + FOR_EACH * counts });

/** For callers that have few. */
export const unlimited = (): CatchUp => ({ left: Infinity });

/** Above or below what is expected. */
export type Side = 'up' | 'down';

/** How easily a detector fires: a factor on all of its thresholds, or never. */
export const SENSITIVITIES = ['off', 'low', 'normal', 'high'] as const;
export type Sensitivity = (typeof SENSITIVITIES)[number];
export const FACTORS: Readonly<Record<Sensitivity, number>> = { off: Infinity, low: 1.3, normal: 1, high: 0.8 };

/** What fires: of one subject, (detector, side, firedAt) names an alert. */
export type Firing = { readonly detector: string; readonly side: Side; readonly firedAt: number };

/** What came in a minute, or in a part of it. Integers from 0 to 2^53. */
export type Counts = { readonly entries: number; readonly errors: number };

/** What a detector has seen at the end of a window. Minutes are minutes since 1970, by event time. */
export type Reading = {
  readonly side: Side;
  /** How far the window is from what is expected, in standard deviations on the variance-stabilised scale; below 0 on the side `down`. */
  readonly z: number;
  /** What the window has a minute, on average: entries, errors, or a share from 0 to 1. */
  readonly value: number;
  /** What `value` is expected to be, and where it would fire. */
  readonly mean: number;
  readonly expected: { readonly low: number; readonly high: number };
  /** First and last minute, both inside. */
  readonly window: { readonly start: number; readonly end: number };
  /** Length of the window that was compared, in minutes. */
  readonly scale: number;
};

/** An alert as it fires, goes on, fires again or resolves. Of one subject, (detector, side, firedAt) names an alert; the last word on it counts. */
export type Finding = Reading & {
  readonly detector: string;
  readonly state: 'firing' | 'resolved';
  /** The last minute whose counts were used when it fired first. */
  readonly firedAt: number;
  /** The same for this finding: the minute of the latest firing, or of the resolution. */
  readonly updatedAt: number;
  /** How many windows have fired, 1 at first. */
  readonly fireCount: number;
  /** True where it has resolved itself, since the value is back within its baseline. */
  readonly quiet?: true;
};

/**
 * Everything that is remembered of one subject: a stream, a service. No clock, no chance, no IO: the findings are a function of the calls. At
 * most 4 KiB. Made by `newSeries` and `restoreSeries` (series/series.ts).
 */
export interface Series {
  /**
   * Adds what has come of a minute: an increment. `appendedAt` is the append time of what it came in, milliseconds since 1970. A minute of the
   * future counts as the minute of `appendedAt`; one behind the watermark builds the baseline and never fires. Where more minutes are behind than
   * `catchUp` has left, the series begins again.
   */
  add(minute: number, counts: Counts, appendedAt: number, catchUp?: CatchUp): void;
  /** False where a tick in the same minute as the last one, with the same sensitivity, finds nothing and changes nothing. */
  readonly isDue: boolean;
  /**
   * Advances the time and returns what was found since the last tick: at least once a minute, every 10 s at best. Append times that go
   * backwards are taken as the newest one. `sensitivity` is called with each detector's name. Where many minutes are behind and `catchUp`
   * has none left, nothing is evaluated.
   */
  tick(appendedAt: number, sensitivity?: (detector: string) => Sensitivity, catchUp?: CatchUp): readonly Finding[];
  /** What fires of this detector and side is not to be reported: it gives no more findings before it was back within its baseline. */
  mute(detector: string, side: Side): void;
  /** What came in the minutes up to one, the newest last, of what this detector counts. */
  recent(detector: string, end: number, minutes: number): readonly number[];
  /** What fires of what this detector counts, whether a user has resolved it or not; null for nothing. */
  firing(detector: string): Firing | null;
  /**
   * By how many entries a window, both ends inside, has left what is expected, of what this detector counts: above 0 on this side. Null where the
   * series is too young.
   */
  departure(detector: string, side: Side, window: { readonly start: number; readonly end: number }): number | null;
  /** A state that `restoreSeries` reads; valid until the next call. */
  snapshot(): Buffer;
}

/** The counts of a series: all entries, and those that are errors. */
export type Tracks = { readonly entries: Track; readonly errors: Track };

/** What sentences about an alert are made of: who it is, of what its entries are, `5 minutes`, and how many entries a minute are usual. */
export type AlertParts = { readonly who: string; readonly whose: string; readonly minutes: string; readonly usual: string };

/**
 * A detector of counts by minute. It is called at a minute's end: for a rise while the minute is open, since counts only grow, for a
 * fall when its counts are final. `factor`: the sensitivity, above one for less. `isRaw`: whether it is firing, so that what came counts.
 */
export interface CountDetector {
  readonly name: string;
  /** When it fires: a sentence for those who set how easily. */
  readonly description: string;
  /** What it is about. Detectors of the same counts do not fire at the same time: the first one of the list does. */
  readonly counts: keyof Tracks;
  readonly severity: 'warning' | 'critical';
  /** The sentences of its alerts; without it those of a rate that rose or fell. */
  text?(of: AlertParts): { readonly title: string; readonly description: string };
  rise?(tracks: Tracks, end: number, factor: number, isRaw: boolean): Found | null;
  fall?(tracks: Tracks, end: number, factor: number, isRaw: boolean): Found | null;
}

/** The errors of a template, and the most that came of them in a week; the last two hours have no part in that. */
export type PatternPast = { readonly track: Track; readonly peaks: Peaks };

/**
 * A detector of the error entries of one template by minute. It is called at the end of each minute whose counts are final. `factor`: the
 * sensitivity, above one for less of it. `isRaw`: whether it is firing, so that what came counts.
 */
export interface PatternDetector {
  readonly name: string;
  /** When it fires: a sentence for those who set how easily. */
  readonly description: string;
  rise(past: PatternPast, end: number, factor: number, isRaw: boolean): Found | null;
}

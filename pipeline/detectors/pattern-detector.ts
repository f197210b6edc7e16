import type { Found } from './departures.ts';
import type { Peaks } from './peaks.ts';
import type { Track } from './track.ts';

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

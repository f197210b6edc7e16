import type { Found } from './departures.ts';
import type { Track } from './track.ts';

/** The counts of a series: all entries, and those that are errors. */
export type Tracks = { readonly entries: Track; readonly errors: Track };

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
  rise?(tracks: Tracks, end: number, factor: number, isRaw: boolean): Found | null;
  fall?(tracks: Tracks, end: number, factor: number, isRaw: boolean): Found | null;
}

/** Minutes without any entry after which a series has stopped. */
const STOPPED = 3;

export function hasStopped(track: Track, end: number): boolean {
  for (let back = 0; back < STOPPED; back++) if (track.at(end - back) > 0) return false;
  return true;
}

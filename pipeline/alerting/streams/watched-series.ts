import type { Sensitivity, Series } from '../../detectors/detector.ts';

/** What detectors evaluate, and what is remembered of it. */
export type WatchedSeries = {
  /** Its label set; empty until it is known. */
  stream: string;
  readonly series: Series;
  /** The minute in which it was evaluated last; -1 where it is due. */
  evaluatedAt: number;
  /** How easily each detector fires, as far as it was evaluated; undefined where that has changed. */
  sensitivities?: Map<string, Sensitivity> | undefined;
};

/** Where samples come from. */
import type { Matcher } from '../values/matcher.ts';
import type { RawSeries } from './series.ts';

/** Which samples a part of a query needs. */
export type Selection = {
  readonly matchers: readonly Matcher[];
  /** Milliseconds: times after `after`, up to and with `until`. */
  readonly after: number;
  readonly until: number;
};

/**
 * Gives series one after another in any order, each whole: all samples of the window in the order of their times, each time
 * once. Series without samples there may be left out. The arrays of a series hold until the next one is asked for: an evaluator that keeps them copies them.
 */
export interface SampleSource {
  select(selection: Selection): Iterable<RawSeries> | AsyncIterable<RawSeries>;
}

/** What parts of an evaluation ask of the whole. */
import type { Expression, Subquery, Times, VectorSelector } from '../base/ast.ts';
import type { RawSeries, StepSeries } from '../base/series.ts';
import type { WindowTimes } from '../functions/cuts.ts';
import type { QueryState } from './state.ts';

/** Takes a series. */
export type Consume = (series: StepSeries) => void;

/** The steps of an evaluation: milliseconds. */
export type Steps = { readonly start: number; readonly interval: number; readonly count: number };

/** Samples of a subquery, and whether the series' name goes at the end. */
export type NamedSamples = RawSeries & { readonly dropName?: boolean };

/** An evaluation at some steps. */
export interface Evaluating {
  readonly state: QueryState;
  readonly steps: Steps;
  readonly timeOf: (step: number) => number;
  /** All series of a vector. They are counted as held until the caller drops them. */
  vector(expression: Expression): Promise<StepSeries[]>;
  /** Gives the series of a vector one after another. */
  stream(expression: Expression, consume: Consume): Promise<void>;
  /** A number at each step. */
  scalar(expression: Expression): Promise<Float64Array>;
  /** Where the windows of all steps end. */
  windows(times: Times, length: number): WindowTimes;
  /** The newest samples of a selector at each step, or their times. */
  select(selector: VectorSelector, asTimes: boolean, consume: Consume): Promise<void>;
  /** What a subquery has at its own steps, as samples, for windows that end with the steps of this evaluation. */
  subquery(node: Subquery, shape: WindowTimes): Promise<NamedSamples[]>;
  /** Series whose names go: one after another where that cannot make two of them the same, else all together. */
  unnamed(expression: Expression, consume: Consume, change: (series: StepSeries) => StepSeries | undefined): Promise<void>;
}

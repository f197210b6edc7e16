/** What an aggregation is: it takes series one by one, and gives what it made of each group. */
import type { Aggregation } from '../base/ast.ts';
import type { Note } from '../base/annotations.ts';
import type { Range } from '../base/errors.ts';
import type { StepSeries } from '../base/series.ts';
import type { Labels } from '../values/labels.ts';

/** The aggregation at work. */
export type AggregationContext = {
  readonly node: Aggregation;
  readonly steps: number;
  /** The scalar by step; empty where there is none. */
  readonly parameter: Float64Array;
  /** The string; empty where there is none. */
  readonly text: string;
  /** Notes something, by default about what is aggregated. */
  note(note: Note, range?: Range): void;
  /** Counts samples that are held. Throws where there are too many. */
  hold(samples: number): void;
};

/** The series of one group. */
export interface Accumulator {
  add(series: StepSeries): void;
  finish(): StepSeries[];
}

/** An operator that makes one or more series of each group. */
export type Aggregator = {
  readonly name: string;
  readonly parameter?: 'scalar' | 'string';
  readonly isExperimental?: true;
  readonly help: string;
  /** Groups are made of it with the label of `count_values`. */
  group(labels: Labels, context: AggregationContext): Accumulator;
  /** Checks and notes of the parameter. False: the result is empty. */
  check?(context: AggregationContext): boolean;
};

/** What a function is. One file has one function, or a family whose members are one-liners of one shape. */
import { unwrapped, type Call, type Expression, type ValueType } from '../base/ast.ts';
import type { Note } from '../base/annotations.ts';
import type { Range } from '../base/errors.ts';
import type { StepSeries } from '../base/series.ts';
import type { Histogram } from '../histograms/histogram.ts';
import type { Labels } from '../values/labels.ts';
import type { Windows } from './windows.ts';

/** How a function is called. */
export type Signature = {
  readonly name: string;
  readonly args: readonly ValueType[];
  /** How many of the last argument may be left out or added: 0 none, 1 one may be left out, -1 any number. */
  readonly variadic: number;
  readonly returns: ValueType;
  /** Behind a flag in Prometheus. */
  readonly isExperimental?: true;
  /** For the table of functions. */
  readonly help: string;
};

/** The call at work: its steps, and its arguments that are no series. */
export type CallContext = {
  readonly call: Call;
  readonly steps: number;
  /** Milliseconds of a step. */
  readonly timeOf: (step: number) => number;
  /** Of an instant query. */
  readonly isInstant: boolean;
  /** The first and last step, and what lies between two, of the whole query, in milliseconds. */
  readonly query: { readonly start: number; readonly end: number; readonly step: number };
  /** By the places of arguments; empty for those that are no scalar. */
  readonly scalars: readonly Float64Array[];
  /** The first argument is a selector, whose values are the times of its samples. */
  readonly hasSampleTimes: boolean;
  note(note: Note, range: Range): void;
  /** Labels and flag of a series whose name is to go, at once or at the end of the query. */
  unnamed(series: { readonly labels: Labels; readonly dropName: boolean }): { readonly labels: Labels; readonly dropName: boolean };
  /** Whether names go at the end of the query. */
  readonly isNameDelayed: boolean;
  /** Series of the same labels as one. */
  merge(series: StepSeries[]): StepSeries[];
  /** Counts samples that are held. Throws where there are too many. */
  hold(samples: number): void;
};

/** Over a window of each series: reads it at all steps, and writes what it gives. */
export type RangeFunction = Signature & {
  readonly kind: 'range';
  /** The result is a sample of the series itself. */
  readonly keepsName?: true;
  /** The result depends on the time of a step beyond its window. */
  readonly usesTime?: true;
  /** The name is taken for that of a counter; one that has no such suffix is noted. */
  readonly wantsCounter?: true;
  over(windows: Windows, out: StepSeries): void;
};

/** From each sample to another, by itself. */
export type MapFunction = Signature & {
  readonly kind: 'map';
  readonly usesTime?: true;
  /** Of a number, with the scalars of the step; undefined: no sample. Absent: numbers are left out. */
  readonly float?: (value: number, first: number, second: number) => number | undefined;
  readonly histogram?: (histogram: Histogram) => number;
  /** The first scalar where it is left out. */
  readonly preset?: number;
};

/** From all series to others. */
export type VectorFunction = Signature & {
  readonly kind: 'vector';
  readonly usesTime?: true;
  readonly wantsSampleTimes?: true;
  apply(series: StepSeries[], context: CallContext): StepSeries[];
};

/** A number at each step. */
export type ScalarFunction = Signature & {
  readonly kind: 'scalar';
  readonly usesTime?: true;
  values(series: readonly StepSeries[], context: CallContext): Float64Array;
};

export type PromqlFunction = RangeFunction | MapFunction | VectorFunction | ScalarFunction;

/** The string of an argument. */
export function stringOf(expression: Expression | undefined): string {
  const inner = expression === undefined ? undefined : unwrapped(expression);
  return inner?.kind === 'string' ? inner.value : '';
}

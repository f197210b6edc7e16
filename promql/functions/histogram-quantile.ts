/** `histogram_quantile`, `histogram_quantiles`: of native and classic histograms. */
import { NOTES } from '../base/annotations.ts';
import type { Range } from '../base/errors.ts';
import type { StepSeries } from '../base/series.ts';
import { classicQuantile, type ClassicBucket, type Forced } from '../histograms/classic.ts';
import type { Histogram } from '../histograms/histogram.ts';
import { histogramQuantile as nativeQuantile } from '../histograms/quantile.ts';
import { METRIC_NAME, type Labels } from '../values/labels.ts';
import { plainNumber, shortNumber } from '../values/numbers.ts';
import { stringOf, type CallContext, type VectorFunction } from './base.ts';
import { eachHistogram, Results } from './bucket-groups.ts';

/** How often and where counts of a metric had to be raised. */
type Raised = { readonly forced: Forced; readonly samples: number; readonly first: number; readonly last: number };

const timeText = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z');

class Quantiles {
  readonly #context: CallContext;
  /** Where the histograms come from. */
  readonly #range: Range;
  readonly #raised = new Map<string, Raised>();

  constructor(context: CallContext, range: Range) {
    this.#context = context;
    this.#range = range;
  }

  of(quantile: number, labels: Labels, found: readonly ClassicBucket[] | Histogram, step: number): number {
    const name = this.#context.isNameDelayed ? labels.get(METRIC_NAME) : '';
    if ('schema' in found) {
      const { value, note } = nativeQuantile(quantile, found);
      if (note === 'nan-result') this.#context.note(NOTES.quantileOfNaN(name), this.#range);
      if (note === 'nan-skew') this.#context.note(NOTES.quantileSkewed(name), this.#range);
      return value;
    }
    const { value, forced } = classicQuantile(quantile, found);
    if (forced !== null) this.#raise(name, forced, this.#context.timeOf(step));
    return value;
  }

  #raise(name: string, forced: Forced, time: number): void {
    const before = this.#raised.get(name);
    const ends = before?.forced ?? forced;
    this.#raised.set(name, {
      forced: { from: Math.min(ends.from, forced.from), to: Math.max(ends.to, forced.to), most: Math.max(ends.most, forced.most) },
      samples: (before?.samples ?? 0) + 1,
      first: Math.min(before?.first ?? time, time),
      last: Math.max(before?.last ?? time, time),
    });
  }

  /** Notes what was raised. */
  finish(): void {
    for (const [name, { forced, samples, first, last }] of this.#raised) {
      const most = Number(forced.most.toPrecision(2));
      const detail = `, from buckets ${shortNumber(forced.from)} to ${shortNumber(forced.to)}, with a max diff of ${shortNumber(most)}, over ${String(samples)} samples from ${timeText(first)} to ${timeText(last)}`;
      this.#context.note(NOTES.forcedMonotonicity(name, detail), this.#range);
    }
  }
}

const noteQuantile = (quantile: number, context: CallContext, range: Range): void => {
  if (!(quantile >= 0 && quantile <= 1)) context.note(NOTES.invalidQuantile(quantile), range);
};

export const histogramQuantile: VectorFunction = {
  kind: 'vector',
  name: 'histogram_quantile',
  args: ['scalar', 'vector'],
  variadic: 0,
  returns: 'vector',
  help: 'quantile of the observations of native histograms, and of classic ones (label `le`)',
  apply: (series, context) => {
    const [first, histograms] = context.call.args;
    if (first === undefined || histograms === undefined) return [];
    const wanted = context.scalars[0] ?? new Float64Array(context.steps);
    for (const quantile of wanted) noteQuantile(quantile, context, first.range);
    const quantiles = new Quantiles(context, histograms.range);
    const results = new Results(context);
    eachHistogram(series, context, histograms.range, ({ labels }, found, step) =>
      results.set(labels, step, quantiles.of(wanted[step] ?? NaN, labels, found, step)),
    );
    quantiles.finish();
    return results.all;
  },
};

/** A quantile as a label: `0.5`, `1.0`. */
const labelOf = (quantile: number): string => {
  const text = Number.isFinite(quantile) ? shortNumber(quantile) : plainNumber(quantile);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
};

export const histogramQuantiles: VectorFunction = {
  kind: 'vector',
  name: 'histogram_quantiles',
  args: ['vector', 'string', 'scalar', 'scalar'],
  variadic: 9,
  returns: 'vector',
  isExperimental: true,
  help: 'several quantiles, each with itself in a label',
  apply: (series: StepSeries[], context) => {
    const { args } = context.call;
    const [first] = args;
    if (first === undefined) return [];
    const label = stringOf(args[1]);
    const wanted = context.scalars.slice(2);
    wanted.forEach((quantile, at) => {
      for (const value of quantile) noteQuantile(value, context, (args[at + 2] ?? first).range);
    });
    const quantiles = new Quantiles(context, first.range);
    const results = new Results(context);
    for (const quantile of wanted)
      eachHistogram(series, context, first.range, ({ labels }, found, step) => {
        const value = quantile[step] ?? NaN;
        results.set(labels.with(label, labelOf(value)), step, quantiles.of(value, labels, found, step));
      });
    quantiles.finish();
    return results.all;
  },
};

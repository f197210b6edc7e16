/** `stddev`, `stdvar`: of numbers, as Welford computes them. */
import { NOTES } from '../base/annotations.ts';
import { FLOAT, HISTOGRAM, StepSeries } from '../base/series.ts';
import type { Labels } from '../values/labels.ts';
import type { Accumulator, AggregationContext, Aggregator } from './base.ts';

class Spread implements Accumulator {
  /** Holds sums of squares until the end. */
  readonly #out: StepSeries;
  readonly #means: Float64Array;
  readonly #counts: Float64Array;
  readonly #context: AggregationContext;
  readonly #name: string;

  constructor(labels: Labels, context: AggregationContext, name: string) {
    this.#out = new StepSeries(labels, context.steps);
    this.#means = new Float64Array(context.steps);
    this.#counts = new Float64Array(context.steps);
    this.#context = context;
    this.#name = name;
    context.hold(2 * context.steps);
  }

  add({ kinds, values, dropName, histograms }: StepSeries): void {
    const out = this.#out;
    out.dropName ||= dropName;
    if (histograms !== undefined && kinds.includes(HISTOGRAM)) this.#context.note(NOTES.ignoredInAggregation(this.#name));
    for (let step = 0; step < kinds.length; step += 1) {
      if (kinds[step] !== FLOAT) continue;
      const value = values[step] as number;
      const count = (this.#counts[step] as number) + 1;
      const mean = this.#means[step] as number;
      this.#counts[step] = count;
      if (count === 1) {
        this.#means[step] = value;
        out.setFloat(step, Number.isFinite(value) ? 0 : NaN);
        continue;
      }
      const next = mean + (value - mean) / count;
      this.#means[step] = next;
      out.values[step] = (out.values[step] as number) + (value - mean) * (value - next);
    }
  }

  finish(): StepSeries[] {
    const { values, kinds } = this.#out;
    for (let step = 0; step < kinds.length; step += 1) {
      const variance = (values[step] as number) / (this.#counts[step] as number);
      if (kinds[step] === FLOAT) values[step] = this.#name === 'stddev' ? Math.sqrt(variance) : variance;
    }
    return [this.#out];
  }
}

const spread = (name: string, help: string): Aggregator => ({ name, help, group: (labels, context) => new Spread(labels, context, name) });

export const stddev = spread('stddev', 'standard deviation');
export const stdvar = spread('stdvar', 'variance');

/** `min`, `max`: of numbers. */
import { NOTES } from '../base/annotations.ts';
import { FLOAT, HISTOGRAM, StepSeries } from '../base/series.ts';
import type { Labels } from '../values/labels.ts';
import type { Accumulator, AggregationContext, Aggregator } from './base.ts';

class Extreme implements Accumulator {
  readonly #out: StepSeries;
  readonly #context: AggregationContext;
  readonly #isMin: boolean;

  constructor(labels: Labels, context: AggregationContext, isMin: boolean) {
    this.#out = new StepSeries(labels, context.steps);
    this.#context = context;
    this.#isMin = isMin;
    context.hold(context.steps);
  }

  add({ kinds, values, dropName, histograms }: StepSeries): void {
    const out = this.#out;
    out.dropName ||= dropName;
    if (histograms !== undefined && kinds.includes(HISTOGRAM)) this.#context.note(NOTES.ignoredInAggregation(this.#isMin ? 'min' : 'max'));
    for (let step = 0; step < kinds.length; step += 1) {
      if (kinds[step] !== FLOAT) continue;
      const value = values[step] as number;
      const best = out.values[step] as number;
      if (out.kinds[step] !== FLOAT || (this.#isMin ? value < best : value > best) || best !== best) out.setFloat(step, value);
    }
  }

  finish(): StepSeries[] {
    return [this.#out];
  }
}

const extreme = (name: string, isMin: boolean, help: string): Aggregator => ({
  name,
  help,
  group: (labels, context) => new Extreme(labels, context, isMin),
});

export const min = extreme('min', true, 'least number');
export const max = extreme('max', false, 'greatest number');

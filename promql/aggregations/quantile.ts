/** `quantile`: of the numbers of a group at each step. */
import { NOTES } from '../base/annotations.ts';
import { FLOAT, HISTOGRAM, StepSeries } from '../base/series.ts';
import type { Labels } from '../values/labels.ts';
import { quantileOfSorted, sortedNumbers } from '../values/quantile.ts';
import type { Accumulator, AggregationContext, Aggregator } from './base.ts';

class Quantile implements Accumulator {
  readonly #labels: Labels;
  readonly #context: AggregationContext;
  readonly #series: StepSeries[] = [];

  constructor(labels: Labels, context: AggregationContext) {
    this.#labels = labels;
    this.#context = context;
  }

  add(series: StepSeries): void {
    this.#context.hold(this.#context.steps);
    if (series.histograms !== undefined && series.kinds.includes(HISTOGRAM)) this.#context.note(NOTES.ignoredInAggregation('quantile'));
    this.#series.push(series);
  }

  finish(): StepSeries[] {
    const { steps, parameter } = this.#context;
    const dropName = this.#series.some((series) => series.dropName);
    const out = new StepSeries(this.#labels, steps, dropName);
    const values = new Float64Array(this.#series.length);
    for (let step = 0; step < steps; step += 1) {
      let count = 0;
      for (const series of this.#series) {
        if (series.kinds[step] !== FLOAT) continue;
        values[count] = series.values[step] as number;
        count += 1;
      }
      if (count > 0) out.setFloat(step, quantileOfSorted(parameter[step] ?? NaN, sortedNumbers(values.subarray(0, count)), count));
    }
    return [out];
  }
}

export const quantile: Aggregator = {
  name: 'quantile',
  parameter: 'scalar',
  help: 'quantile of the numbers',
  group: (labels, context) => new Quantile(labels, context),
  check: ({ parameter, note, node }) => {
    const [least, most] = [Math.min(...ends(parameter)), Math.max(...ends(parameter))];
    for (const value of new Set([least, most])) if (!(value >= 0 && value <= 1)) note(NOTES.invalidQuantile(value), node.parameter?.range);
    return true;
  },
};

/** The least and the greatest; NaN where there is one. */
function ends(values: Float64Array): readonly [number, number] {
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) {
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  return [least, most];
}

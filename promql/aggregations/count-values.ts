/** `count_values`: how many series have each value, which is a label of the result. */
import { ABSENT, HISTOGRAM, StepSeries } from '../base/series.ts';
import { PromqlExecutionError } from '../base/errors.ts';
import { histogramText } from '../histograms/text.ts';
import { quote, type Labels } from '../values/labels.ts';
import { plainNumber } from '../values/numbers.ts';
import type { Accumulator, AggregationContext, Aggregator } from './base.ts';

class Values implements Accumulator {
  readonly #labels: Labels;
  readonly #context: AggregationContext;
  readonly #counts = new Map<string, StepSeries>();

  constructor(labels: Labels, context: AggregationContext) {
    this.#labels = labels;
    this.#context = context;
  }

  add(series: StepSeries): void {
    const { steps, text, node } = this.#context;
    for (let step = 0; step < steps; step += 1) {
      const kind = series.kinds[step];
      if (kind === ABSENT) continue;
      const value = kind === HISTOGRAM ? histogramText(series.histogramAt(step)) : plainNumber(series.values[step] as number);
      let out = this.#counts.get(value);
      if (out === undefined) {
        const isLeftOut = node.isWithout && node.grouping.includes(text);
        out = new StepSeries(isLeftOut ? this.#labels : this.#labels.with(text, value), steps);
        this.#context.hold(steps);
        this.#counts.set(value, out);
      }
      out.setFloat(step, (out.values[step] as number) + 1);
    }
  }

  finish(): StepSeries[] {
    return [...this.#counts.values()];
  }
}

export const countValues: Aggregator = {
  name: 'count_values',
  parameter: 'string',
  help: 'number of series with each value, which becomes a label',
  group: (labels, context) => new Values(labels, context),
  check: ({ text }) => {
    if (text === '' || !text.isWellFormed()) throw new PromqlExecutionError(`invalid label name ${quote(text)}`);
    return true;
  },
};

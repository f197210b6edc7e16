/** `count`, `group`: of samples of either kind. */
import { ABSENT, StepSeries } from '../base/series.ts';
import type { Labels } from '../values/labels.ts';
import type { Accumulator, AggregationContext, Aggregator } from './base.ts';

class Count implements Accumulator {
  readonly #out: StepSeries;
  readonly #isGroup: boolean;

  constructor(labels: Labels, context: AggregationContext, isGroup: boolean) {
    this.#out = new StepSeries(labels, context.steps);
    this.#isGroup = isGroup;
    context.hold(context.steps);
  }

  add({ kinds, dropName }: StepSeries): void {
    this.#out.dropName ||= dropName;
    const { values } = this.#out;
    for (let step = 0; step < kinds.length; step += 1)
      if (kinds[step] !== ABSENT) this.#out.setFloat(step, this.#isGroup ? 1 : (values[step] as number) + 1);
  }

  finish(): StepSeries[] {
    return [this.#out];
  }
}

const counting = (name: string, isGroup: boolean, help: string): Aggregator => ({
  name,
  help,
  group: (labels, context) => new Count(labels, context, isGroup),
});

export const count = counting('count', false, 'number of series');
export const group = counting('group', true, '1 for each group');

/** `timestamp`: when a sample is from; of anything but a selector, the time of the step. */
import { ABSENT, StepSeries } from '../base/series.ts';
import type { VectorFunction } from './base.ts';

export const timestamp: VectorFunction = {
  kind: 'vector',
  name: 'timestamp',
  args: ['vector'],
  variadic: 0,
  returns: 'vector',
  usesTime: true,
  wantsSampleTimes: true,
  help: 'time of each sample in seconds',
  apply: (series, context) =>
    series.map((one) => {
      const unnamed = context.unnamed(one);
      const out = new StepSeries(unnamed.labels, context.steps, unnamed.dropName);
      for (let step = 0; step < context.steps; step += 1)
        if (one.kinds[step] !== ABSENT)
          out.setFloat(step, (context.hasSampleTimes ? (one.values[step] as number) : context.timeOf(step)) / 1000);
      return out;
    }),
};

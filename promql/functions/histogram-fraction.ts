/** `histogram_fraction`: the share of observations between two values. */
import { NOTES } from '../base/annotations.ts';
import { classicFraction } from '../histograms/classic.ts';
import { histogramFraction as nativeFraction } from '../histograms/quantile.ts';
import { METRIC_NAME } from '../values/labels.ts';
import type { VectorFunction } from './base.ts';
import { eachHistogram, Results } from './bucket-groups.ts';

export const histogramFraction: VectorFunction = {
  kind: 'vector',
  name: 'histogram_fraction',
  args: ['scalar', 'scalar', 'vector'],
  variadic: 0,
  returns: 'vector',
  help: 'share of the observations between two values',
  apply: (series, context) => {
    const histograms = context.call.args[2];
    if (histograms === undefined) return [];
    const results = new Results(context);
    eachHistogram(series, context, histograms.range, ({ labels }, found, step) => {
      const [lower = NaN, upper = NaN] = [context.scalars[0]?.[step], context.scalars[1]?.[step]];
      if ('schema' in found) {
        const { value, note } = nativeFraction(lower, upper, found);
        if (note !== undefined)
          context.note(NOTES.fractionWithoutNaN(context.isNameDelayed ? labels.get(METRIC_NAME) : ''), histograms.range);
        results.set(labels, step, value);
      } else results.set(labels, step, classicFraction(lower, upper, found));
    });
    return results.all;
  },
};

/** `sort`, `sort_desc`, `sort_by_label`, `sort_by_label_desc`: the order of an instant query's answer. */
import { NOTES } from '../base/annotations.ts';
import { FLOAT, type StepSeries } from '../base/series.ts';
import { compareLabels } from '../values/labels.ts';
import { compareNatural } from '../values/natural-order.ts';
import { stringOf, type CallContext, type VectorFunction } from './base.ts';

function noteRange(context: CallContext): void {
  if (!context.isInstant) context.note(NOTES.ineffectiveSort(), context.call.range);
}

/** By value, those that are no numbers last. */
const byValue = (name: string, help: string, sign: 1 | -1): VectorFunction => ({
  kind: 'vector',
  name,
  args: ['vector'],
  variadic: 0,
  returns: 'vector',
  help,
  apply: (series, context) => {
    noteRange(context);
    const value = (one: StepSeries): number => one.values[0] ?? NaN;
    const floats = series.filter((one) => !context.isInstant || one.kinds[0] === FLOAT);
    if (!context.isInstant) return floats.map((one) => withoutHistograms(one, context));
    return floats.sort((a, b) => {
      const [left, right] = [value(a), value(b)];
      if (Number.isNaN(left) || Number.isNaN(right)) return (Number.isNaN(left) ? 1 : 0) - (Number.isNaN(right) ? 1 : 0);
      return sign * (left - right) || 0;
    });
  },
});

/** Numbers alone. */
function withoutHistograms(series: StepSeries, { steps }: CallContext): StepSeries {
  if (series.histograms === undefined) return series;
  for (let step = 0; step < steps; step += 1) if (series.kinds[step] !== FLOAT) series.kinds[step] = 0;
  series.histograms = undefined;
  return series;
}

/** By the values of labels, digits in them as numbers, then by all labels. */
const byLabel = (name: string, help: string, sign: 1 | -1): VectorFunction => ({
  kind: 'vector',
  name,
  args: ['vector', 'string'],
  variadic: -1,
  returns: 'vector',
  isExperimental: true,
  help,
  apply: (series, context) => {
    noteRange(context);
    const names = context.call.args.slice(1).map(stringOf);
    return series.sort((a, b) => {
      for (const label of names) {
        const order = compareNatural(a.labels.get(label), b.labels.get(label));
        if (order !== 0) return sign * order;
      }
      return sign * compareLabels(a.labels, b.labels);
    });
  },
});

export const sort = byValue('sort', 'in the order of values', 1);
export const sortDesc = byValue('sort_desc', 'in the order of values, greatest first', -1);
export const sortByLabel = byLabel('sort_by_label', "in the order of labels' values", 1);
export const sortByLabelDesc = byLabel('sort_by_label_desc', "in the order of labels' values, last first", -1);

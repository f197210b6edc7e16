/** `mad_over_time`: the median of the distances from the median. */
import { quantileOfSorted, sortedNumbers } from '../values/quantile.ts';
import type { RangeFunction } from './base.ts';
import { noteIgnored } from './extremes.ts';
import { eachWindow } from './windows.ts';

const median = (values: Float64Array): number => quantileOfSorted(0.5, sortedNumbers(values), values.length);

export const madOverTime: RangeFunction = {
  kind: 'range',
  name: 'mad_over_time',
  args: ['matrix'],
  variadic: 0,
  returns: 'vector',
  isExperimental: true,
  help: 'median of the distances from the median',
  over: (windows, out) => {
    noteIgnored(windows);
    eachWindow(windows, out, 1, (from, to) => {
      const values = windows.values.subarray(from, to);
      if (values.includes(NaN)) return NaN;
      const middle = median(values);
      return median(values.map((value) => Math.abs(value - middle)));
    });
  },
};

/** `double_exponential_smoothing`: a value that follows the samples and their trend. */
import { PromqlExecutionError } from '../base/errors.ts';
import type { RangeFunction } from './base.ts';
import { ofTwoOrMore } from './regression.ts';

function check(factor: number, name: string, short: string): void {
  if (factor > 0 && factor < 1) return;
  throw new PromqlExecutionError(`invalid ${name} factor. Expected: 0 < ${short} < 1, got: ${factor.toFixed(6)}`);
}

export const doubleExponentialSmoothing: RangeFunction = {
  kind: 'range',
  name: 'double_exponential_smoothing',
  args: ['matrix', 'scalar', 'scalar'],
  variadic: 0,
  returns: 'vector',
  isExperimental: true,
  help: 'smoothed value of a gauge, by a smoothing factor and a trend factor',
  over: (windows, out) => {
    const { values, scalars, steps } = windows;
    const factors = (place: number): Float64Array => scalars[place] ?? new Float64Array(steps);
    for (let step = 0; step < steps; step += 1) {
      if (windows.from[step] === windows.to[step] && !windows.hasHistograms) continue;
      check(factors(1)[step] as number, 'smoothing', 'sf');
      check(factors(2)[step] as number, 'trend', 'tf');
    }
    ofTwoOrMore(windows, out, (from, to, step) => {
      const [smoothing, ofTrend] = [factors(1)[step] as number, factors(2)[step] as number];
      let [before, smoothed] = [0, values[from] as number];
      let trend = (values[from + 1] as number) - (values[from] as number);
      for (let at = from + 1; at < to; at += 1) {
        if (at > from + 1) trend = ofTrend * (smoothed - before) + (1 - ofTrend) * trend;
        const next = smoothing * (values[at] as number) + (1 - smoothing) * (smoothed + trend);
        before = smoothed;
        smoothed = next;
      }
      return smoothed;
    });
  },
};

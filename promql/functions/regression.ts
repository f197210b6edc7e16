/** `deriv`, `predict_linear`: the straight line through the samples of a window (least squares). */
import { NOTES } from '../base/annotations.ts';
import type { StepSeries } from '../base/series.ts';
import { Sum } from '../values/kahan.ts';
import type { RangeFunction } from './base.ts';
import type { Windows } from './windows.ts';

type Line = { readonly slope: number; readonly intercept: number };

/** The line, with its value at a time. */
function lineOf({ times, values }: Windows, from: number, to: number, at: number): Line {
  const [x, y, xy, xx] = [new Sum(), new Sum(), new Sum(), new Sum()];
  const first = values[from] as number;
  let isConstant = true;
  for (let place = from; place < to; place += 1) {
    const value = values[place] as number;
    if (place > from && value !== first) isConstant = false;
    const seconds = ((times[place] as number) - at) / 1000;
    x.add(seconds);
    y.add(value);
    xy.add(seconds * value);
    xx.add(seconds * seconds);
  }
  if (isConstant) return Number.isFinite(first) || Number.isNaN(first) ? { slope: 0, intercept: first } : { slope: NaN, intercept: NaN };
  const count = to - from;
  const [sumX, sumY, sumXY, sumXX] = [x, y, xy, xx].map((sum) => sum.total + sum.lost) as [number, number, number, number];
  const slope = (sumXY - (sumX * sumY) / count) / (sumXX - (sumX * sumX) / count);
  return { slope, intercept: sumY / count - (slope * sumX) / count };
}

/** Of each window with two numbers or more; notes histograms where there is a number. */
export function ofTwoOrMore(windows: Windows, out: StepSeries, compute: (from: number, to: number, step: number) => number): void {
  for (let step = 0; step < windows.steps; step += 1) {
    const [from, to] = [windows.from[step] as number, windows.to[step] as number];
    if (windows.hasHistograms && to > from && (windows.histogramCut.to[step] as number) > (windows.histogramCut.from[step] as number))
      windows.note(NOTES.ignoredInRange(windows.metricName));
    if (to - from >= 2) out.setFloat(step, compute(from, to, step));
  }
}

export const deriv: RangeFunction = {
  kind: 'range',
  name: 'deriv',
  args: ['matrix'],
  variadic: 0,
  returns: 'vector',
  help: 'slope of a gauge for each second',
  over: (windows, out) => ofTwoOrMore(windows, out, (from, to) => lineOf(windows, from, to, windows.times[from] as number).slope),
};

export const predictLinear: RangeFunction = {
  kind: 'range',
  name: 'predict_linear',
  args: ['matrix', 'scalar'],
  variadic: 0,
  returns: 'vector',
  usesTime: true,
  help: 'what a gauge will be after a number of seconds',
  over: (windows, out) =>
    ofTwoOrMore(windows, out, (from, to, step) => {
      const { slope, intercept } = lineOf(windows, from, to, windows.shape.times[step] as number);
      return slope * (windows.scalars[1]?.[step] ?? 0) + intercept;
    }),
};

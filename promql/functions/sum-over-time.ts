/** `sum_over_time`, `avg_over_time`: of numbers, or of histograms. */
import { NOTES } from '../base/annotations.ts';
import type { StepSeries } from '../base/series.ts';
import type { Histogram } from '../histograms/histogram.ts';
import { HistogramMean, HistogramSum } from '../histograms/sums.ts';
import { Mean } from '../values/kahan.ts';
import type { RangeFunction } from './base.ts';
import { exactSums } from './exact-sums.ts';
import { eachWindow, type Windows } from './windows.ts';

/** The sum or mean of histograms; null where exponential and custom buckets meet. */
function allOf(histograms: readonly Histogram[], isMean: boolean, onReconciled: () => void): Histogram | null {
  const [first, ...others] = histograms;
  if (first === undefined) return null;
  const total = isMean ? new HistogramMean(first) : new HistogramSum(first);
  for (const histogram of others) {
    const added = total.add(histogram);
    if (added === null) return null;
    if (added.isReconciled) onReconciled();
  }
  return total.value;
}

/** Notes what the histograms of a window have against each other, and sets what they come to. */
function overMixed(windows: Windows, out: StepSeries, isMean: boolean, floats: (values: Float64Array) => number): void {
  windows.eachMixed(({ values, histograms }, step) => {
    if (histograms.length === 0) out.setFloat(step, floats(values));
    else if (values.length > 0) windows.note(NOTES.mixedFloatsHistograms(windows.metricName));
    else {
      const onReconciled = (): void => windows.note(NOTES.reconciledBounds('aggregation'));
      const hints = new Set(histograms.map(({ hint }) => hint));
      const result = allOf(histograms, isMean, onReconciled);
      if (result === null) {
        windows.note(NOTES.mixedSchemas(windows.metricName));
        return;
      }
      if (hints.has('reset') && hints.has('not_reset')) windows.note(NOTES.resetCollision('aggregation'));
      out.setHistogram(step, result);
    }
  });
}

function sumFloats(values: Float64Array, from: number, to: number): number {
  let [total, lost] = [0, 0];
  for (let at = from; at < to; at += 1) {
    const value = values[at] as number;
    const next = total + value;
    if (next === Infinity || next === -Infinity) lost = 0;
    else lost += Math.abs(total) >= Math.abs(value) ? total - next + value : value - next + total;
    total = next;
  }
  return total === Infinity || total === -Infinity ? total : total + lost;
}

function meanFloats(values: Float64Array, from: number, to: number): number {
  const count = to - from;
  let [total, lost] = [values[from] as number, 0];
  for (let at = from + 1; at < to; at += 1) {
    const value = values[at] as number;
    const next = total + value;
    if (next === Infinity || next === -Infinity) return carriedMean(values.subarray(from, to));
    lost += Math.abs(total) >= Math.abs(value) ? total - next + value : value - next + total;
    total = next;
  }
  return total / count + lost / count;
}

function carriedMean(values: Float64Array): number {
  const mean = new Mean();
  for (const value of values) mean.add(value);
  return mean.value;
}

const ofAll = (name: string, isMean: boolean, help: string): RangeFunction => ({
  kind: 'range',
  name,
  args: ['matrix'],
  variadic: 0,
  returns: 'vector',
  help,
  over: (windows, out) => {
    const { values } = windows;
    const compute = isMean ? meanFloats : sumFloats;
    if (windows.hasHistograms) {
      overMixed(windows, out, isMean, (floats) => compute(floats, 0, floats.length));
      return;
    }
    const sums = exactSums(values);
    if (sums === null) {
      eachWindow(windows, out, 1, (from, to) => compute(values, from, to));
      return;
    }
    eachWindow(windows, out, 1, (from, to) => {
      const sum = (sums[to] as number) - (sums[from] as number);
      return isMean ? sum / (to - from) : sum;
    });
  },
});

export const sumOverTime = ofAll('sum_over_time', false, 'sum of the samples');
export const avgOverTime = ofAll('avg_over_time', true, 'mean of the samples');

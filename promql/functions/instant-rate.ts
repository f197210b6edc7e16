/** `irate`, `idelta`: the change between the last two samples of a window. */
import { NOTES } from '../base/annotations.ts';
import { isReset, subtractHistograms } from '../histograms/arithmetic.ts';
import { compact, divide, type Histogram } from '../histograms/histogram.ts';
import type { RangeFunction } from './base.ts';
import { eachWindow, type Mixed, type Windows } from './windows.ts';

type Sample = { readonly time: number; readonly value: number; readonly histogram: Histogram | undefined };

/** The last two samples of a window, earlier first. */
function lastTwo({ times, values, histogramTimes, histograms }: Mixed): readonly Sample[] {
  const floats = Array.from(values.slice(-2), (value, at): Sample => ({
    time: times[Math.max(0, times.length - 2) + at] ?? 0,
    value,
    histogram: undefined,
  }));
  const others = histograms.slice(-2).map((histogram, at): Sample => ({ time: histogramTimes.slice(-2)[at] ?? 0, value: 0, histogram }));
  return [...floats, ...others].sort((a, b) => a.time - b.time).slice(-2);
}

function histogramChange(before: Histogram, last: Histogram, windows: Windows, isRate: boolean): Histogram | null {
  const name = windows.metricName;
  if (isRate && (last.hint === 'gauge' || before.hint === 'gauge')) windows.note(NOTES.notCounter(name));
  if (!isRate && (last.hint !== 'gauge' || before.hint !== 'gauge')) windows.note(NOTES.notGauge(name));
  let change = last;
  if (!isRate || !isReset(last, before)) {
    const difference = subtractHistograms(last, before);
    if (difference === null) {
      windows.note(NOTES.mixedSchemas(name));
      return null;
    }
    if (difference.isReconciled) windows.note(NOTES.reconciledBounds('subtraction'));
    change = difference.histogram;
  }
  return compact({ ...change, hint: 'gauge' });
}

const lastChange = (name: string, isRate: boolean, help: string): RangeFunction => ({
  kind: 'range',
  name,
  args: ['matrix'],
  variadic: 0,
  returns: 'vector',
  help,
  over: (windows, out) => {
    const changeOf = (before: number, last: number, seconds: number): number => {
      const change = isRate && last < before ? last : last - before;
      return isRate ? change / seconds : change;
    };
    if (!windows.hasHistograms) {
      const { times, values } = windows;
      eachWindow(windows, out, 2, (_from, to) =>
        changeOf(values[to - 2] as number, values[to - 1] as number, ((times[to - 1] as number) - (times[to - 2] as number)) / 1000),
      );
      return;
    }
    windows.eachMixed((samples, step) => {
      const [before, last] = lastTwo(samples);
      if (before === undefined || last === undefined || before.time === last.time) return;
      const seconds = (last.time - before.time) / 1000;
      if (before.histogram === undefined && last.histogram === undefined) out.setFloat(step, changeOf(before.value, last.value, seconds));
      else if (before.histogram === undefined || last.histogram === undefined)
        windows.note(NOTES.mixedFloatsHistograms(windows.metricName));
      else {
        const change = histogramChange(before.histogram, last.histogram, windows, isRate);
        if (change !== null) out.setHistogram(step, isRate ? divide(change, seconds) : change);
      }
    });
  },
});

export const irate = lastChange('irate', true, 'growth of a counter for each second between the last two samples');
export const idelta = lastChange('idelta', false, 'change between the last two samples');

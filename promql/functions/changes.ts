/** `changes`, `resets`: how often a value changes, or falls. */
import { equalHistograms, type Histogram } from '../histograms/histogram.ts';
import { isReset } from '../histograms/arithmetic.ts';
import type { RangeFunction } from './base.ts';
import { eachWindow, type Mixed } from './windows.ts';

type Compare = {
  readonly floats: (before: number, value: number) => boolean;
  readonly histograms: (before: Histogram, histogram: Histogram) => boolean;
};

function countMixed({ times, values, histogramTimes, histograms }: Mixed, compare: Compare): number {
  const samples = [
    ...Array.from(values, (value, at) => ({ time: times[at] ?? 0, value })),
    ...histograms.map((value, at) => ({ time: histogramTimes[at] ?? 0, value })),
  ].sort((a, b) => a.time - b.time);
  let count = 0;
  for (const [at, { value }] of samples.entries()) {
    const before = samples[at - 1]?.value;
    if (before === undefined) continue;
    if (typeof before === 'number' && typeof value === 'number') count += compare.floats(before, value) ? 1 : 0;
    else if (typeof before === 'object' && typeof value === 'object') count += compare.histograms(before, value) ? 1 : 0;
    else count += 1;
  }
  return count;
}

const counting = (name: string, help: string, compare: Compare): RangeFunction => ({
  kind: 'range',
  name,
  args: ['matrix'],
  variadic: 0,
  returns: 'vector',
  help,
  over: (windows, out) => {
    if (windows.hasHistograms) {
      windows.eachMixed((samples, step) => out.setFloat(step, countMixed(samples, compare)));
      return;
    }
    // how many there are up to each place, so that a window is one difference
    const { values } = windows;
    const counts = new Int32Array(values.length);
    for (let at = 1; at < values.length; at += 1)
      counts[at] = (counts[at - 1] as number) + (compare.floats(values[at - 1] as number, values[at] as number) ? 1 : 0);
    eachWindow(windows, out, 1, (from, to) => (counts[to - 1] as number) - (counts[from] as number));
  },
});

export const changes = counting('changes', 'how often the value changes', {
  floats: (before, value) => value !== before && !(Number.isNaN(value) && Number.isNaN(before)),
  histograms: (before, histogram) => !equalHistograms(histogram, before),
});

export const resets = counting('resets', 'how often a counter falls', {
  floats: (before, value) => value < before,
  histograms: (before, histogram) => isReset(histogram, before),
});

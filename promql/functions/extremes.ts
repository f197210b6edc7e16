/** `min_over_time`, `max_over_time` and the times of the last such samples. */
import { NOTES } from '../base/annotations.ts';
import type { StepSeries } from '../base/series.ts';
import type { RangeFunction } from './base.ts';
import { eachWindow, type Windows } from './windows.ts';

/** Notes histograms that are passed over where a window has numbers, too. */
export function noteIgnored(windows: Windows): void {
  if (!windows.hasHistograms) return;
  const { from, to } = windows.histogramCut;
  for (let step = 0; step < windows.steps; step += 1)
    if ((to[step] as number) > (from[step] as number) && (windows.to[step] as number) > (windows.from[step] as number))
      windows.note(NOTES.ignoredInRange(windows.metricName));
}

const hasNaN = (values: Float64Array): boolean => {
  for (const value of values) if (value !== value) return true;
  return false;
};

/** A queue of the places that may still be the extreme: each is before the next, and beats it. Exact, and each sample is looked at once. */
function sliding(windows: Windows, out: StepSeries, beats: (a: number, b: number) => boolean): void {
  const { values, from, to } = windows;
  const queue = new Int32Array(values.length);
  let [head, tail, next] = [0, 0, 0];
  for (let step = 0; step < windows.steps; step += 1) {
    const [first, end] = [from[step] as number, to[step] as number];
    for (; next < end; next += 1) {
      while (tail > head && !beats(values[queue[tail - 1] as number] as number, values[next] as number)) tail -= 1;
      queue[tail] = next;
      tail += 1;
    }
    while (head < tail && (queue[head] as number) < first) head += 1;
    if (end > first) out.setFloat(step, values[queue[head] as number] as number);
  }
}

type Compare = (value: number, best: number) => boolean;

const extreme = (name: string, help: string, isBetter: Compare, isTime: boolean): RangeFunction => ({
  kind: 'range',
  name,
  args: ['matrix'],
  variadic: 0,
  returns: 'vector',
  ...(isTime ? { isExperimental: true } : {}),
  help,
  over: (windows, out) => {
    noteIgnored(windows);
    const { times, values } = windows;
    if (!isTime && !hasNaN(values)) {
      sliding(windows, out, isBetter);
      return;
    }
    eachWindow(windows, out, 1, (from, to) => {
      let best = from;
      for (let at = from; at < to; at += 1) {
        const current = values[best] as number;
        if (isBetter(values[at] as number, current) || current !== current) best = at;
      }
      return isTime ? (times[best] as number) / 1000 : (values[best] as number);
    });
  },
});

export const minOverTime = extreme('min_over_time', 'the least number', (value, best) => value < best, false);
export const maxOverTime = extreme('max_over_time', 'the greatest number', (value, best) => value > best, false);
export const tsOfMinOverTime = extreme('ts_of_min_over_time', 'time of the last least number', (value, best) => value <= best, true);
export const tsOfMaxOverTime = extreme('ts_of_max_over_time', 'time of the last greatest number', (value, best) => value >= best, true);

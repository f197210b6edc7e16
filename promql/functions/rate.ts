/** `rate`, `increase`, `delta`: the change of a series over a window, carried on to the window's ends where samples come near them. */
import { NOTES } from '../base/annotations.ts';
import { FLOAT, HISTOGRAM, type StepSeries } from '../base/series.ts';
import { addHistograms, isReset, subtractHistograms } from '../histograms/arithmetic.ts';
import { toSchema } from '../histograms/buckets.ts';
import { compact, EMPTY, isCustom, scale, type Histogram } from '../histograms/histogram.ts';
import type { RangeFunction } from './base.ts';
import { sumOverTime } from './sum-over-time.ts';
import type { Windows } from './windows.ts';

type Kind = { readonly isCounter: boolean; readonly isRate: boolean };

/** A window's first and last sample, and what changed between them. */
type Change = {
  readonly firstTime: number;
  readonly lastTime: number;
  readonly count: number;
  /** How much of the change the first sample is: a counter that grew was at zero that long before it. NaN: not known. */
  readonly firstShare: number;
};

/** By what a change between samples is multiplied to be that of the window. */
function factorOf({ firstTime, lastTime, count, firstShare }: Change, end: number, length: number, { isCounter, isRate }: Kind): number {
  let toStart = (firstTime - (end - length)) / 1000;
  let toEnd = (end - lastTime) / 1000;
  const sampled = (lastTime - firstTime) / 1000;
  const average = sampled / (count - 1);
  const threshold = average * 1.1;
  if (toStart >= threshold) toStart = average / 2;
  if (isCounter) {
    const toZero = sampled * firstShare;
    if (toZero < toStart) toStart = toZero;
  }
  if (toEnd >= threshold) toEnd = average / 2;
  const factor = sampled === 0 ? 1 : (sampled + toStart + toEnd) / sampled;
  return isRate ? factor / (length / 1000) : factor;
}

/** Places of the samples that are lower than the one before: few, so that a window's are found at once. */
function dropsOf(values: Float64Array): readonly number[] {
  const drops: number[] = [];
  for (let at = 1; at < values.length; at += 1) if ((values[at] as number) < (values[at - 1] as number)) drops.push(at);
  return drops;
}

function overFloats(windows: Windows, out: StepSeries, kind: Kind): void {
  const { times, values, from, to, shape } = windows;
  const drops = kind.isCounter ? dropsOf(values) : [];
  let drop = 0;
  for (let step = 0; step < windows.steps; step += 1) {
    const [first, last] = [from[step] as number, (to[step] as number) - 1];
    if (last - first < 1) continue;
    const start = values[first] as number;
    let change = (values[last] as number) - start;
    while (drop < drops.length && (drops[drop] as number) <= first) drop += 1;
    for (let at = drop; at < drops.length && (drops[at] as number) <= last; at += 1) change += values[(drops[at] as number) - 1] as number;
    const firstShare = change > 0 && start >= 0 ? start / change : NaN;
    const samples = { firstTime: times[first] as number, lastTime: times[last] as number, count: last - first + 1, firstShare };
    out.values[step] = change * factorOf(samples, shape.ends[step] as number, shape.length, kind);
    out.kinds[step] = 1;
  }
}

/** The change between histograms; null, with a note, where they cannot be compared. */
function histogramChange(histograms: readonly Histogram[], windows: Windows, isCounter: boolean): Histogram | null {
  const name = windows.metricName;
  const [first = EMPTY, second = EMPTY, last = EMPTY] = [histograms[0], histograms[1], histograms.at(-1)];
  const mixed = (): null => {
    windows.note(NOTES.mixedSchemas(name));
    return null;
  };
  if (isCounter && (first.hint === 'gauge' || last.hint === 'gauge')) windows.note(NOTES.notCounter(name));
  const begin = isCounter && isReset(second, first) ? { ...EMPTY, schema: second.schema, custom: second.custom } : first;
  if (isCustom(last) !== isCustom(begin)) return mixed();
  let schema = Math.min(begin.schema, last.schema);
  for (const histogram of isCounter ? histograms.slice(1, -1) : []) {
    if (histogram.hint === 'gauge') windows.note(NOTES.notCounter(name));
    schema = Math.min(schema, histogram.schema);
    if (isCustom(histogram) !== isCustom(begin)) return mixed();
  }
  const difference = subtractHistograms(toSchema(last, schema), begin);
  if (difference === null) return mixed();
  if (difference.isReconciled) windows.note(NOTES.reconciledBounds('subtraction'));
  let change = difference.histogram;
  if (!isCounter) {
    if (first.hint !== 'gauge' || last.hint !== 'gauge') windows.note(NOTES.notGauge(name));
  } else {
    let previous = begin;
    for (const histogram of histograms.slice(1)) {
      if (isReset(histogram, previous)) {
        const sum = addHistograms(change, previous);
        if (sum === null) return mixed();
        if (sum.isReconciled) windows.note(NOTES.reconciledBounds('addition'));
        change = sum.histogram;
      }
      previous = histogram;
    }
  }
  return compact({ ...change, hint: 'gauge' });
}

function overMixed(windows: Windows, out: StepSeries, kind: Kind): void {
  const { shape } = windows;
  windows.eachMixed(({ times, values, histogramTimes, histograms }, step) => {
    if (values.length > 0 && histograms.length > 0) windows.note(NOTES.mixedFloatsHistograms(windows.metricName));
    else if (values.length === 0 && histograms.length > 1) {
      const change = histogramChange(histograms, windows, kind.isCounter);
      if (change === null) return;
      const start = histograms[0]?.count ?? 0;
      const firstShare = change.count > 0 && start >= 0 ? start / change.count : NaN;
      const [firstTime = 0, lastTime = 0] = [histogramTimes[0], histogramTimes.at(-1)];
      const samples = { firstTime, lastTime, count: histograms.length, firstShare };
      out.setHistogram(step, scale(change, factorOf(samples, shape.ends[step] ?? 0, shape.length, kind)));
    } else if (values.length > 1) {
      let change = (values.at(-1) ?? 0) - (values[0] ?? 0);
      if (kind.isCounter) for (const at of dropsOf(values)) change += values[at - 1] ?? 0;
      const start = values[0] ?? 0;
      const samples = {
        firstTime: times[0] ?? 0,
        lastTime: times.at(-1) ?? 0,
        count: values.length,
        firstShare: change > 0 && start >= 0 ? start / change : NaN,
      };
      out.setFloat(step, change * factorOf(samples, shape.ends[step] ?? 0, shape.length, kind));
    }
  });
}

/** Of what was added since the sample before: all that lies in the window, and nothing is carried on. */
function overDeltas(windows: Windows, out: StepSeries, isRate: boolean): void {
  sumOverTime.over(windows, out);
  const factor = isRate ? 1000 / windows.shape.length : 1;
  for (let step = 0; step < windows.steps; step += 1) {
    if (out.kinds[step] === FLOAT) out.values[step] = (out.values[step] as number) * factor;
    else if (out.kinds[step] === HISTOGRAM) out.setHistogram(step, { ...scale(out.histogramAt(step), factor), hint: 'gauge' });
  }
}

const changeOf = (name: string, kind: Kind, help: string): RangeFunction => ({
  kind: 'range',
  name,
  args: ['matrix'],
  variadic: 0,
  returns: 'vector',
  ...(kind.isCounter ? { wantsCounter: true } : {}),
  help,
  over: (windows, out) => {
    if (windows.isDelta && kind.isCounter) overDeltas(windows, out, kind.isRate);
    else (windows.hasHistograms ? overMixed : overFloats)(windows, out, kind);
  },
});

export const rate = changeOf('rate', { isCounter: true, isRate: true }, 'growth of a counter for each second, with resets');
export const increase = changeOf('increase', { isCounter: true, isRate: false }, 'growth of a counter over the window, with resets');
export const delta = changeOf('delta', { isCounter: false, isRate: false }, 'change of a gauge over the window');

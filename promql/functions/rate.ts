/** `rate`, `increase`, `delta`: the change of a series over a window, carried on to the window's ends where samples come near them. */
import { NOTES } from '../base/annotations.ts';
import { FLOAT, HISTOGRAM, type StepSeries } from '../base/series.ts';
import { addHistograms, isReset, subtractHistograms } from '../histograms/arithmetic.ts';
import { toSchema } from '../histograms/buckets.ts';
import { compact, EMPTY, isCustom, scale, type Histogram } from '../histograms/histogram.ts';
import type { RangeFunction } from './base.ts';
import type { Cut } from './cuts.ts';
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
  let before = values[0] as number;
  for (let at = 1; at < values.length; at += 1) {
    const own = values[at] as number;
    if (own < before) drops.push(at);
    before = own;
  }
  return drops;
}

/** What the times of a step's samples say of its change, whatever the samples are. */
type Factors = {
  /** `factorOf` where the counter is not known to have been at zero after the window's start. */
  readonly whole: Float64Array;
  /** A first sample that is more than the change divided by this was not at zero after the window's start. */
  readonly above: Float64Array;
};

/** Of cuts that several series have. A cut is used by one function. */
const known = new WeakMap<Cut, Factors>();
/** What roundings may make of a quotient is far less; smaller numbers have fewer digits than that. */
const [MARGIN, SMALL] = [1e-9, 1e-280];
/** Of a cut that one series has: what it does not say is worked out step by step. */
const NO_FACTORS: Factors = { whole: new Float64Array(0), above: new Float64Array(0) };

function factorsOf({ cut, times, shape, steps }: Windows, kind: Kind): Factors {
  const found = known.get(cut);
  if (found !== undefined) return found;
  const factors = { whole: new Float64Array(steps), above: new Float64Array(steps) };
  for (let step = 0; step < steps; step += 1) {
    const [first, last] = [cut.from[step] as number, (cut.to[step] as number) - 1];
    if (last - first < 1) continue;
    const [firstTime, lastTime, end] = [times[first] as number, times[last] as number, shape.ends[step] as number];
    factors.whole[step] = factorOf({ firstTime, lastTime, count: last - first + 1, firstShare: NaN }, end, shape.length, kind);
    factors.above[step] = ((lastTime - firstTime) / (firstTime - (end - shape.length))) * (1 - MARGIN);
  }
  known.set(cut, factors);
  return factors;
}

function overFloats(windows: Windows, out: StepSeries, kind: Kind): void {
  const { values, from, to, cut, steps } = windows;
  const drops = kind.isCounter ? dropsOf(values) : [];
  const { whole, above } = cut.isShared ? factorsOf(windows, kind) : NO_FACTORS;
  const { values: results, kinds } = out;
  let drop = 0;
  let nextDrop = drops[0] ?? values.length;
  for (let step = 0; step < steps; step += 1) {
    const first = from[step] as number;
    const last = (to[step] as number) - 1;
    if (last <= first) continue;
    const start = values[first] as number;
    let change = (values[last] as number) - start;
    if (nextDrop <= last) {
      while (drop < drops.length && (drops[drop] as number) <= first) drop += 1;
      nextDrop = drops[drop] ?? values.length;
      for (let at = drop; at < drops.length && (drops[at] as number) <= last; at += 1)
        change += values[(drops[at] as number) - 1] as number;
    }
    kinds[step] = FLOAT;
    results[step] =
      start > SMALL && start * (above[step] as number) > change
        ? change * (whole[step] as number)
        : change * factorAt(windows, step, start, change, kind);
  }
}

/** The factor of a step, by its samples. */
function factorAt({ times, from, to, shape }: Windows, step: number, start: number, change: number, kind: Kind): number {
  const [first, last] = [from[step] as number, (to[step] as number) - 1];
  const firstShare = change > 0 && start >= 0 ? start / change : NaN;
  const samples = { firstTime: times[first] as number, lastTime: times[last] as number, count: last - first + 1, firstShare };
  return factorOf(samples, shape.ends[step] as number, shape.length, kind);
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

/** `quantile_over_time`: the window is kept sorted while it moves, which is exact. */
import { NOTES } from '../base/annotations.ts';
import type { StepSeries } from '../base/series.ts';
import { quantileOfSorted } from '../values/quantile.ts';
import type { RangeFunction } from './base.ts';
import { noteIgnored } from './extremes.ts';
import type { Windows } from './windows.ts';

/** From how many numbers on they are moved at once. */
const FAR = 16;

/** Numbers in order, those that are none first. */
class SortedWindow {
  readonly #values: Float64Array;
  size = 0;

  constructor(most: number) {
    this.#values = new Float64Array(most);
  }

  add(value: number): void {
    const values = this.#values;
    let at = this.size;
    for (; at > 0 && (value !== value || (values[at - 1] as number) > value); at -= 1) values[at] = values[at - 1] as number;
    values[at] = value;
    this.size += 1;
  }

  remove(value: number): void {
    const values = this.#values;
    this.size -= 1;
    for (let at = this.#placeOf(value); at < this.size; at += 1) values[at] = values[at + 1] as number;
  }

  /** Removes one number and adds another: only what lies between the two moves. */
  replace(old: number, value: number): void {
    if (old !== old || value !== value) {
      this.remove(old);
      this.add(value);
      return;
    }
    const values = this.#values;
    let at = this.#placeOf(old);
    const target = this.#placeOf(value);
    if (target > at + FAR) {
      values.copyWithin(at, at + 1, target);
      at = target - 1;
    } else if (at > target + FAR) {
      values.copyWithin(target + 1, target, at);
      at = target;
    }
    for (; at + 1 < this.size && (values[at + 1] as number) < value; at += 1) values[at] = values[at + 1] as number;
    for (; at > 0 && (values[at - 1] as number) > value; at -= 1) values[at] = values[at - 1] as number;
    values[at] = value;
  }

  /** The first place of a number that is not less; of what is none, the first of all. */
  #placeOf(value: number): number {
    const values = this.#values;
    if (value !== value) return 0;
    let [at, end] = [0, this.size];
    while (at < end) {
      const middle = (at + end) >>> 1;
      if ((values[middle] as number) >= value) end = middle;
      else at = middle + 1;
    }
    return at;
  }

  clear(): void {
    this.size = 0;
  }

  quantile(quantile: number): number {
    return quantileOfSorted(quantile, this.#values, this.size);
  }
}

function widest({ from, to, steps }: Windows): number {
  let most = 0;
  for (let step = 0; step < steps; step += 1) most = Math.max(most, (to[step] as number) - (from[step] as number));
  return most;
}

function overFloats(windows: Windows, out: StepSeries, quantiles: Float64Array): void {
  const { values, from, to } = windows;
  const sorted = new SortedWindow(widest(windows) + 1);
  let [first, end] = [0, 0];
  for (let step = 0; step < windows.steps; step += 1) {
    const [nextFirst, nextEnd] = [from[step] as number, to[step] as number];
    if (nextFirst >= end) {
      sorted.clear();
      first = end = nextFirst;
    }
    for (; first < nextFirst && end < nextEnd; first += 1, end += 1) sorted.replace(values[first] as number, values[end] as number);
    for (; first < nextFirst; first += 1) sorted.remove(values[first] as number);
    for (; end < nextEnd; end += 1) sorted.add(values[end] as number);
    if (sorted.size > 0) out.setFloat(step, sorted.quantile(quantiles[step] as number));
  }
}

export const quantileOverTime: RangeFunction = {
  kind: 'range',
  name: 'quantile_over_time',
  args: ['scalar', 'matrix'],
  variadic: 0,
  returns: 'vector',
  help: 'quantile of the numbers',
  over: (windows, out) => {
    const quantiles = windows.scalars[0] ?? new Float64Array(windows.steps);
    for (const [step, quantile] of quantiles.entries())
      if (!(quantile >= 0 && quantile <= 1) && (windows.to[step] ?? 0) > (windows.from[step] ?? 0))
        windows.note(NOTES.invalidQuantile(quantile));
    if (windows.hasHistograms && windows.values.length > 0) noteIgnored(windows);
    overFloats(windows, out, quantiles);
  },
};

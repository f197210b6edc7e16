/** From counted entries to bars: which step a window gets, and what stands in each bar. */
import type { LevelName } from '../base/levels.ts';
import type { Span } from '../base/window.ts';

export type Step = '1m' | '5m' | '15m' | '1h' | '6h' | '1d';
const STEPS: readonly (readonly [Step, number])[] = [
  ['1m', 6e4],
  ['5m', 3e5],
  ['15m', 9e5],
  ['1h', 36e5],
  ['6h', 216e5],
  ['1d', 864e5],
];
const MOST_BARS = 200;

/** The smallest step that gives at most 200 bars. */
export function stepOf({ start, end }: Span): { readonly name: Step; readonly ms: number } {
  const [name, ms] = STEPS.find(([, size]) => (end - start) / size <= MOST_BARS) ?? ['1d', 864e5];
  return { name, ms };
}

export type Bar = { readonly start: number; readonly counts: Readonly<Record<LevelName, number>>; readonly total: number };
type Hit = { readonly time: string; readonly hits: number; readonly [field: string]: unknown };

/** A bar for each step of the window, also where nothing was. */
export function barsOf(hits: readonly Hit[], { start, end }: Span, step: number, kindOf: (level: string) => LevelName): Bar[] {
  const first = Math.floor(start / step) * step;
  const many = Math.max(1, Math.ceil((end - first) / step));
  const bars = Array.from({ length: Math.min(many, 2000) }, (_none, at) => ({
    start: first + at * step,
    counts: { error: 0, warn: 0, info: 0, debug: 0 } as Record<LevelName, number>,
    total: 0,
  }));
  for (const { time, hits: count, level } of hits) {
    const bar = bars[Math.floor((Date.parse(time) - first) / step)];
    if (bar === undefined) continue;
    bar.counts[kindOf(typeof level === 'string' ? level : '')] += count;
    bar.total += count;
  }
  return bars;
}

/** A round number at or above: 1, 2, 5, 10, 20, 50 … */
export function niceTop(value: number): number {
  if (value <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((by) => by * power).find((top) => top >= value) ?? value;
}

/** Round moments of an axis, as many as there is room for. */
export function ticksOf({ start, end }: Span, most: number): number[] {
  const sizes = [1e3, 5e3, 15e3, 3e4, 6e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 216e5, 432e5, 864e5, 1728e5, 6048e5];
  const size = sizes.find((one) => (end - start) / one <= most) ?? 6048e5;
  const ticks: number[] = [];
  for (let at = Math.ceil(start / size) * size; at <= end; at += size) ticks.push(at);
  return ticks;
}

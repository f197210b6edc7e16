import type { Counts, Finding, Sensitivity } from '../../../pipeline/detectors/detector.ts';
import { newSeries } from '../../../pipeline/detectors/series/series.ts';
import type { Series } from '../../../pipeline/detectors/detector.ts';

/** A Monday, 00:00, as minutes since 1970. */
export const START = 29_000_160;
const MINUTE_MS = 60_000;

/** Numbers from 0 to 1, the same ones for a seed. */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

/** A Poisson variable (of means that are not large: Knuth's algorithm). */
function poisson(mean: number, next: () => number): number {
  if (mean > 200)
    return Math.max(0, Math.round(mean + Math.sqrt(mean) * Math.sqrt(-2 * Math.log(next() + 1e-12)) * Math.cos(2 * Math.PI * next())));
  const limit = Math.exp(-mean);
  let count = 0;
  for (let product = next(); product > limit; product *= next()) count += 1;
  return count;
}

/** Minutes from `START` on with these means. */
export const counted = (minutes: number, mean: (minute: number) => number, seed = 1): number[] => {
  const next = random(seed);
  return Array.from({ length: minutes }, (_none, minute) => poisson(mean(minute), next));
};

export const endOf = (minute: number): number => (START + minute) * MINUTE_MS + MINUTE_MS - 1;

/** An alert, in minutes after `START`. */
export type Seen = {
  readonly detector: string;
  readonly side: string;
  readonly fired: number;
  readonly resolved: number | null;
  readonly count: number;
};

/** The last word on each alert. */
export const latestOf = (findings: readonly Finding[]): Seen[] => [
  ...new Map(
    findings.map(({ detector, side, firedAt, state, updatedAt, fireCount }) => [
      `${detector} ${side} ${String(firedAt)}`,
      { detector, side, fired: firedAt - START, resolved: state === 'resolved' ? updatedAt - START : null, count: fireCount },
    ]),
  ).values(),
];

/** What a series finds where each minute's counts come as the minute ends. */
export function found(
  counts: readonly (number | Counts)[],
  sensitivity?: (name: string) => Sensitivity,
  series: Series = newSeries(),
  from = 0,
): Finding[] {
  return counts.flatMap((one, index) => {
    const minute = from + index;
    series.add(START + minute, typeof one === 'number' ? { entries: one, errors: 0 } : one, endOf(minute));
    return [...series.tick(endOf(minute), sensitivity)];
  });
}

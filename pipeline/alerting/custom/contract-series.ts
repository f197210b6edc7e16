import type { SentPoint } from './detector-messages.ts';

/** A series that every detector is run on, and what it is like. */
export type ContractSeries = { readonly what: string; readonly points: readonly SentPoint[] };

/** 2026-01-01T00:00Z. */
const START = 29_453_760;
const DAY = 1440;

/** Numbers from 0 to 1 that are the same in each run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 0x1_0000_0000;
  };
}

type Minute = { readonly value: number | null; readonly entries: number; readonly errors?: number };

const series = (what: string, minutes: number, of: (index: number) => Minute): ContractSeries => ({
  what,
  points: Array.from({ length: minutes }, (_none, index) => {
    const { value, entries, errors = 0 } = of(index);
    return [START + index, value, entries, errors];
  }),
});

/** Windows of a rule: some are left out, since not all of their entries were evaluated. */
const windows = (what: string, step: number, count: number, of: (index: number) => Minute): ContractSeries => {
  const { points } = series(what, count, of);
  const moved = points.map(([minute, value, entries], index) => [minute + index * (step - 1), value, entries, 0] as const);
  return { what, points: moved.filter((_point, index) => index % 50 !== 49) };
};

const counted = (count: number, errors = 0): Minute => ({ value: count, entries: count, errors });
/** Values that a field may have: none, below zero, tiny, and as large as bytes or nanoseconds are. */
const ODD = [0, 1, -1, 0.5, 1e-9, -1e-9, 1e15, -1e15, 9_007_199_254_740_991] as const;

/** What a service may see: quiet and busy, steady and broken, stopped and resumed, and numbers that no one expects. */
export function contractSeries(): readonly ContractSeries[] {
  const next = numbers(7);
  const noise = (most: number): number => Math.floor(next() * most);
  return [
    series('A stream with a day and a night', 2 * DAY, (at) =>
      counted(40 + noise(20) + Math.round(30 * Math.sin((at / DAY) * 2 * Math.PI)), noise(2)),
    ),
    series('A stream that rises tenfold for an hour, twice', DAY, (at) =>
      counted((at % 700 > 600 ? 500 : 50) + noise(10), at % 700 > 600 ? 400 : 0),
    ),
    series('A stream that steps up and stays there', DAY, (at) => counted(at > 700 ? 300 + noise(9) : 20 + noise(9))),
    series('A stream that is silent for hours, and comes back', DAY, (at) => counted(at > 400 && at < 900 ? 0 : 30 + noise(9))),
    series('A stream that always has the same', DAY, () => counted(20)),
    series('A stream without an entry', DAY, () => counted(0)),
    series('A stream with an entry an hour', DAY, (at) => counted(at % 60 === 0 ? 1 : 0)),
    series('A stream of a week', 7 * DAY, (at) => counted(100 + noise(40) + (at % DAY < 600 ? 100 : 0), noise(3))),
    series('A stream of one minute', 1, () => counted(7)),
    series('A value that is there at times', DAY, () => ({ value: next() < 0.5 ? null : 100 * next(), entries: 3 })),
    windows('The value of a rule each five minutes, with gaps', 5, 600, (at) => ({
      value: at % 9 === 0 ? null : 90 + noise(30),
      entries: 3,
    })),
    series('A value that is never there', 600, () => ({ value: null, entries: 0 })),
    series('Values of any size', DAY, () => ({ value: ODD[noise(ODD.length)] ?? 0, entries: 1 + noise(1e9) })),
  ];
}

import { setImmediate as turn } from 'node:timers/promises';
import { Random } from './random.ts';

export type RoundsOptions = {
  readonly runs: number;
  readonly seed: number;
  readonly progress?: ((line: string) => void) | undefined;
};

/** One thing that is tried: what it is, for people, and what came of it. Throws where that may not be. */
export type Round = { readonly what: string; run(): Promise<string> };

/** What came of all: how often what, every one that did what it must not do, and memory after a collection, when all was warm and at the end. */
export type RoundsReport = {
  readonly runs: number;
  readonly seed: number;
  readonly seconds: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly slowestMs: number;
  readonly slowest: string;
  /** MiB. */
  readonly heap: readonly [warm: number, end: number];
  readonly rss: readonly [warm: number, end: number];
  readonly failures: readonly string[];
};

const WARM_UP = 20_000;
const MAX_FAILURES = 10;
const SHOWN = 300;

/** Tries so many: the same ones for the same seed, each by its number. */
export async function rounds({ runs, seed, progress }: RoundsOptions, roundOf: (random: Random) => Round): Promise<RoundsReport> {
  const outcomes: Record<string, number> = {};
  const failures: string[] = [];
  const began = performance.now();
  let [slowestMs, slowest, warm] = [0, '', settled()];
  for (let number = 0; number < runs && failures.length < MAX_FAILURES; number += 1) {
    if (number % 100 === 0) await turn();
    if (number === WARM_UP) warm = settled();
    const { what, run } = roundOf(new Random(seed * 1_000_003 + number));
    const at = performance.now();
    try {
      const outcome = await run();
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    } catch (error) {
      failures.push(`seed ${String(seed)}, ${String(number)}: ${what}: ${String((error as Error).stack)}`);
    }
    const ms = performance.now() - at;
    if (ms > slowestMs) [slowestMs, slowest] = [ms, what.slice(0, SHOWN)];
    if (number % 20_000 === 19_999) progress?.(`${String(number + 1)} of ${String(runs)}, ${String(failures.length)} failures`);
  }
  await turn();
  const end = settled();
  return {
    ...{ runs, seed, seconds: Math.round((performance.now() - began) / 1000), outcomes, slowestMs: Math.round(slowestMs), slowest },
    ...{ heap: [warm.heap, end.heap], rss: [warm.rss, end.rss], failures },
  };
}

/** Memory in MiB, after a collection where the process may ask for one. */
function settled(): { readonly heap: number; readonly rss: number } {
  (globalThis as { gc?: () => void }).gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  return { heap: Math.round(heapUsed / 1_048_576), rss: Math.round(rss / 1_048_576) };
}

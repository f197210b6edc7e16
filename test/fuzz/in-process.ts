import { setImmediate as turn } from 'node:timers/promises';
import { fuzzRequest, runRequest } from './bodies.ts';
import { replaySeeds, sampleSeeds, seeds, spanSeeds, type Seed } from './seeds.ts';

export type FuzzOptions = {
  readonly runs: number;
  readonly seed: number;
  /** Bodies of this signal alone. */
  readonly only?: Seed['signal'] | undefined;
  readonly progress?: (line: string) => void;
};

/** What a fuzz found: statuses and entries, and every request that did what it must not do. */
export type FuzzReport = {
  readonly runs: number;
  readonly seed: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly accepted: number;
  readonly rejected: number;
  /** From the time when everything was warm to the end, MiB. */
  readonly rssGrowth: number;
  readonly slowestMs: number;
  readonly failures: readonly string[];
};

const WARM_UP = 5000;
const MAX_FAILURES = 10;

/** Runs damaged bodies through decoders and normalizers. */
export async function fuzzInProcess({ runs, seed, only, progress }: FuzzOptions): Promise<FuzzReport> {
  const all = [...seeds(), ...spanSeeds(), ...sampleSeeds(), ...replaySeeds()].filter(
    ({ signal }) => only === undefined || signal === only,
  );
  const statuses: Record<string, number> = {};
  const failures: string[] = [];
  let [accepted, rejected, slowestMs] = [0, 0, 0];
  let warmRss = 0;
  for (let number = 0; number < runs && failures.length < MAX_FAILURES; number++) {
    if (number === Math.min(WARM_UP, runs - 1)) warmRss = settledRss();
    // what zlib leaves to later turns of the event loop gets them
    if (number % 100 === 0) await turn();
    const request = fuzzRequest(all, seed, number);
    const began = performance.now();
    try {
      const outcome = await runRequest(request);
      statuses[outcome.status] = (statuses[outcome.status] ?? 0) + 1;
      accepted += outcome.accepted;
      rejected += outcome.rejected;
    } catch (error) {
      failures.push(
        `seed ${String(seed)}, request ${String(number)} (${request.seed.name}, ${request.encoding}): ${String((error as Error).stack)}`,
      );
    }
    slowestMs = Math.max(slowestMs, performance.now() - began);
    if (number % 20_000 === 19_999) progress?.(`${String(number + 1)} of ${String(runs)}, ${String(failures.length)} failures`);
  }
  const rssGrowth = settledRss() - warmRss;
  return { runs, seed, statuses, accepted, rejected, rssGrowth, slowestMs: Math.round(slowestMs), failures };
}

/** Resident memory in MiB, after a collection where the process may ask for one. */
function settledRss(): number {
  (globalThis as { gc?: () => void }).gc?.();
  return Math.round(process.memoryUsage().rss / 1_048_576);
}

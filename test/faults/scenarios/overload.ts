import type { WatchedAttempt } from '../load.ts';
import type { Scenario } from '../scenario.ts';
import { bounded, percentile } from './measured.ts';
import { apiMetrics, percentWithin, servedPosts, worstLagMs } from './served.ts';

const USUAL_RATE = 2000;
const OVERLOAD_RATE = 20_000;
const RECOVERED_MS = 60_000;
/** The waits that the contract gives with each reason of a 429; those of `rate_limited` depend on the debt. Seconds. */
const WAITS: readonly (readonly [string, number])[] = [
  ['backpressure', 5],
  ['wal_full', 10],
];

/** By the clock of the service: that of the load runs on the same two cores, which are too busy to read it in time. */
const IN_TIME = 'overload: acknowledged requests that took the service at most 1 s, %';
const LAG = 'overload: p99 of the event loop lag of the slower API process, ms';
const WRONG_WAITS = 'overload: refusals with a wrong retry_after';
const RECOVERY = 'overload: from its end to the last refusal, or acknowledgement after more than 1 s, ms';

/** Whether a 429 says for how long to wait as the contract has it. */
function hasRightWait({ why, retryAfter }: WatchedAttempt): boolean {
  const wait = WAITS.find(([slug]) => why.includes(slug))?.[1];
  return wait === undefined ? retryAfter !== null && retryAfter >= 1 : retryAfter === wait;
}

/** More than two cores handle: what is taken is taken quickly, and the rest is told so. */
export const overload: Scenario = {
  name: 'overload',
  about: `${String(OVERLOAD_RATE)} entries/s are offered for most of the run, ten times the usual load.`,
  // what is slow because of it would be blamed on the others
  alone: true,
  entriesPerSecond: USUAL_RATE,
  sampleSeconds: 8,
  async run({ cluster, load, counters, measures, seconds, wait, log }) {
    const attempts: WatchedAttempt[] = [];
    await wait(seconds * 100);
    const end = load.watch((attempt) => attempts.push(attempt));
    const metricsBefore = await apiMetrics(cluster);
    load.setRate(OVERLOAD_RATE);
    counters.add('overloads');
    const [began, ackedBefore] = [Date.now(), load.totals.ackedEntries];
    await wait(seconds * 600);
    load.setRate(USUAL_RATE);
    const over = Date.now();
    const metrics = await apiMetrics(cluster);
    measures.set(IN_TIME, percentWithin(servedPosts(metricsBefore), servedPosts(metrics), 1));
    measures.set(LAG, worstLagMs(metrics));
    const acked = attempts.filter(({ status }) => status >= 200 && status < 300);
    const refused = attempts.filter(({ status }) => status === 429);
    measures.set('overload: seconds', (over - began) / 1000);
    measures.set('overload: entries acknowledged per second', (1000 * (load.totals.ackedEntries - ackedBefore)) / (over - began));
    measures.set(
      'overload: acknowledged requests as the load saw them, median, ms',
      percentile(
        acked.map(({ tookMs }) => tookMs),
        0.5,
      ),
    );
    measures.set(
      'overload: acknowledged requests as the load saw them, p99, ms',
      percentile(
        acked.map(({ tookMs }) => tookMs),
        0.99,
      ),
    );
    measures.set('overload: requests acknowledged', acked.length);
    measures.set('overload: requests refused with 429', refused.length);
    measures.set(WRONG_WAITS, refused.filter((attempt) => !hasRightWait(attempt)).length);
    log(`${String(acked.length)} requests acknowledged, ${String(refused.length)} refused`);
    await wait(Math.min(RECOVERED_MS, seconds * 300));
    end();
    const last = attempts.findLast(({ at, status, tookMs }) => at > over && (status === 429 || tookMs > 1000));
    measures.set(RECOVERY, last === undefined ? 0 : last.at - over);
  },
  check: (totals, measures) => [
    ...bounded(measures, IN_TIME, { least: 99 }),
    ...bounded(measures, LAG, { most: 500 }),
    ...bounded(measures, WRONG_WAITS, { most: 0 }),
    ...bounded(measures, RECOVERY, { most: 10_000 }),
    ...(totals.attempts.acked > 0 ? [] : [{ check: 'nothing was acknowledged', count: 1, examples: [] }]),
  ],
};

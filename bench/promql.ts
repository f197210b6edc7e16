/**
 * `npm run -s bench:promql [series]`: CPU time of queries over a day of samples in memory, 30 s apart, at steps of 60 s: counters with resets in ten
 * groups, and gauges. The least of some rounds.
 */
import { instantQuery, rangeQuery } from '../promql/evaluation/query.ts';
import { Labels } from '../promql/values/labels.ts';
import { MemorySource, rawSeries } from '../test/promql/memory-source.ts';
import { cpuMs } from '../test/cpu-time.ts';

const DAY = 86_400_000;
const ROUNDS = 5;
const count = Number(process.argv[2] ?? 1000);

/** Numbers between 0 and 1 that are the same in each run. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function series(name: string, place: number, next: (before: number, chance: number) => number): ReturnType<typeof rawSeries> {
  const chance = random(place + 1);
  const labels = Labels.of([
    ['__name__', name],
    ['job', `job-${String(place % 10)}`],
    ['instance', `instance-${String(place)}`],
  ]);
  let value = 0;
  const samples = Array.from({ length: DAY / 30_000 + 1 }, (_none, at) => {
    value = next(value, chance());
    return [at * 30_000, value] as const;
  });
  return rawSeries(labels, samples);
}

const source = new MemorySource([
  ...Array.from({ length: count }, (_none, place) =>
    series('requests_total', place, (before, chance) => (chance < 0.0005 ? 0 : before + Math.floor(chance * 100))),
  ),
  ...Array.from({ length: count }, (_none, place) => series('seconds_total', place, (before, chance) => before + chance / 7)),
]);

const QUERIES = [
  'requests_total',
  'sum by (job) (rate(requests_total[5m]))',
  'sum by (job) (rate(seconds_total[5m]))',
  'rate(requests_total[5m])',
  'increase(requests_total[1h])',
  'avg_over_time(requests_total[5m])',
  'avg_over_time(seconds_total[5m])',
  'quantile_over_time(0.9, seconds_total[5m])',
  'quantile_over_time(0.9, seconds_total[1h])',
  'max_over_time(seconds_total[1h])',
  'quantile by (job) (0.9, rate(requests_total[5m]))',
  'topk(5, rate(requests_total[5m]))',
  'rate(requests_total[5m]) / rate(seconds_total[5m])',
  'max_over_time(rate(requests_total[5m])[30m:1m])',
];

for (const query of QUERIES) {
  let least = Infinity;
  for (let round = 0; round < ROUNDS; round += 1) {
    const from = cpuMs();
    await rangeQuery(query, 0, DAY, 60_000, { source });
    least = Math.min(least, cpuMs() - from);
  }
  console.log(`${least.toFixed(0).padStart(6)} ms  ${query}`);
}

let parsing = Infinity;
const empty = new MemorySource([]);
for (let round = 0; round < ROUNDS; round += 1) {
  const from = cpuMs();
  for (let at = 0; at < 1000; at += 1)
    await instantQuery('sum by (job) (rate(requests_total{job=~"job-[1-3]"}[5m])) / 3', DAY, { source: empty });
  parsing = Math.min(parsing, cpuMs() - from);
}
console.log(`${parsing.toFixed(0).padStart(6)} us  to parse and begin a query`);

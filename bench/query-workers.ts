/**
 * `npm run bench:query-workers`: what it costs a query to be run by a process of its own: the same queries in this process and in the pool, in
 * turns, on a ClickHouse of its own.
 *   npm run bench:query-workers -- [--rounds 400] [--entries 5000]
 * Prints a Markdown table: milliseconds from the question to the whole answer.
 */
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import type { QueryEngine, QueryJob } from '../api/query/engine.ts';
import { LocalEngine } from '../api/engine/local-engine.ts';
import { QueryPool } from '../api/engine/workers/query-pool.ts';
import { LogsqlStore } from '../test/e2e/logsql-store.ts';
import { at } from '../test/e2e/query-setup.ts';

const { values: flags } = parseArgs({
  options: { rounds: { type: 'string', default: '400' }, entries: { type: 'string', default: '5000' } },
});
const [rounds, entries, WARM_UP] = [Number(flags.rounds), Number(flags.entries), 30];
const limits = { maxFacetFields: 50 };

const own = await LogsqlStore.start();
await own.insert(
  1,
  Array.from({ length: entries }, (_, i) => at(i / 10, { _msg: `message ${String(i)}` })),
);
const pool = new QueryPool({
  ...{ clickhouse: own.config, store: own.store, limits, workers: 3, maxBytes: 1e9 },
  log: pino({ level: 'silent' }),
});
await pool.start();
const engines: readonly (readonly [string, QueryEngine])[] = [
  ['in this process', new LocalEngine({ store: own.store, now: () => BigInt(Date.now()) * 1_000_000n, limits })],
  ['in a worker', pool],
];

const jobOf = (limit: number): QueryJob => ({
  operation: 'search',
  parameters: { query: 'message', start: '2026-11-18T00:00:00Z', end: '2026-11-19T00:00:00Z', limit, before: null, enrich: false },
  ...{ tenantId: 1, retentionDays: 0, atOnce: 4, requestId: 'bench', timeoutMs: 30_000 },
  ...{ startedAt: performance.now(), signal: new AbortController().signal },
});

console.log('| entries of the answer | where | least | median | p90 |\n|---|---|---|---|---|');
for (const limit of [10, entries]) {
  const times = new Map(engines.map(([name]) => [name, [] as number[]]));
  for (let round = 0; round < rounds + WARM_UP; round++)
    for (const [name, engine] of engines) {
      const began = performance.now();
      await engine.run(jobOf(limit));
      if (round >= WARM_UP) times.get(name)?.push(performance.now() - began);
    }
  for (const [name, all] of times) {
    all.sort((a, b) => a - b);
    const part = (share: number): string => (all[Math.floor((all.length - 1) * share)] ?? NaN).toFixed(2);
    console.log(`| ${String(limit)} | ${name} | ${part(0)} | ${part(0.5)} | ${part(0.9)} |`);
  }
}
await pool.stop();
await own.stop();

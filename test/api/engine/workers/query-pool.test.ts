import { expect } from 'chai';
import path from 'node:path';
import { pino } from 'pino';
import { QueryPool } from '../../../../api/engine/workers/query-pool.ts';
import { loadConfig } from '../../../../pipeline/core/config.ts';
import type { QueryJob } from '../../../../api/query/engine.ts';

const PROGRAM = { module: path.resolve(import.meta.dirname, '../../../fixtures/workers/dying-worker.ts') };
const WORKERS = 4;

describe('the pool of query workers', () => {
  let pool: QueryPool;
  before(async () => {
    pool = new QueryPool({
      ...{ clickhouse: loadConfig({}).clickhouse, limits: { maxFacetFields: 1 }, store: { endMarked: () => Promise.resolve() } },
      ...{ log: pino({ level: 'silent' }), workers: WORKERS, maxBytes: Infinity, program: PROGRAM },
    });
    await pool.start();
  });
  after(() => pool.stop());

  const job = (tenantId: number, parameters: unknown): QueryJob => ({
    ...{ operation: 'search', parameters, tenantId, retentionDays: 0, atOnce: 4, requestId: 'r', startedAt: performance.now() },
    ...{ timeoutMs: 60_000, signal: new AbortController().signal },
  });
  const answerOf = async (tenantId: number, parameters: unknown): Promise<string> =>
    ((await pool.run(job(tenantId, parameters))).body as Buffer).toString();

  it('lets a tenant whose queries end their worker have the places of half of them, also while the next ones begin', async () => {
    await Promise.all(Array.from({ length: 3 * WORKERS }, (_, n) => answerOf(10 + n, 'live')));
    const before = new Set(pool.pids);
    expect(before.size).to.equal(WORKERS);
    const deaths = Array.from({ length: 5 }, () => Promise.allSettled(Array.from({ length: 4 }, () => answerOf(1, 'die'))));
    const ended = (await Promise.all(deaths)).flat();
    expect(ended.every(({ status }) => status === 'rejected')).to.equal(true);
    expect(pool.pids.filter((pid) => before.has(pid)).length).to.equal(WORKERS / 2);
    expect(before.has(Number(await answerOf(2, 'live')))).to.equal(true);
  });
});

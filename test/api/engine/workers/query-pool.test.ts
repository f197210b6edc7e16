import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { QueryPool } from '../../../../api/engine/workers/query-pool.ts';
import { loadConfig } from '../../../../pipeline/core/config.ts';
import type { QueryJob } from '../../../../api/query/engine.ts';
import type { RunningStatement } from '../../../../pipeline/store/client.ts';

const PROGRAM = { module: path.resolve(import.meta.dirname, '../../../fixtures/workers/dying-worker.ts') };
const WORKERS = 4;

type Ended = Promise<void>;

async function startPool(
  endMarked: () => Ended,
  workers: number,
  {
    onLost = () => undefined,
    statements = () => [],
  }: { readonly onLost?: () => void; readonly statements?: () => RunningStatement[] } = {},
): Promise<QueryPool> {
  const pool = new QueryPool({
    ...{
      clickhouse: loadConfig({}).clickhouse,
      limits: { maxFacetFields: 1 },
      store: { endMarked, runningStatements: () => Promise.resolve(statements()) },
      onLost,
    },
    ...{ log: pino({ level: 'silent' }), workers, maxBytes: Infinity, program: PROGRAM },
  });
  await pool.start();
  return pool;
}

const job = (tenantId: number, parameters: unknown): QueryJob => ({
  ...{ operation: 'search', parameters, tenantId, retentionDays: 0, atOnce: 4, requestId: 'r', startedAt: performance.now() },
  ...{ timeoutMs: 60_000, signal: new AbortController().signal },
});
const answerOf = async (pool: QueryPool, tenantId: number, parameters: unknown): Promise<string> =>
  ((await pool.run(job(tenantId, parameters))).body as Buffer).toString();
/** One query of each of so many tenants. */
const ofTenants = (pool: QueryPool, count: number, parameters: string): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, (_, n) => pool.run(job(10 + n, parameters))));

describe('the pool of query workers', () => {
  let pool: QueryPool;
  afterEach(() => pool.stop());

  it('lets a tenant whose queries end their worker have the places of half of them, also while the next ones begin', async () => {
    pool = await startPool(() => Promise.resolve(), WORKERS);
    await ofTenants(pool, 3 * WORKERS, 'live');
    const before = new Set(pool.pids);
    expect(before.size).to.equal(WORKERS);
    const deaths = Array.from({ length: 5 }, () => Promise.allSettled(Array.from({ length: 4 }, () => answerOf(pool, 1, 'die'))));
    const ended = (await Promise.all(deaths)).flat();
    expect(ended.every(({ status }) => status === 'rejected')).to.equal(true);
    expect(pool.pids.filter((pid) => before.has(pid)).length).to.equal(WORKERS / 2);
    // a worker that is short of CPU is silent, and others take its place for so long
    for (let tenant = 2; !before.has(Number(await answerOf(pool, tenant, 'live'))); tenant++);
  });

  it('has all places of a worker for others as soon as it begins again, whatever the tenant that ended the one before has left', async () => {
    let [lost, marked] = [0, 0];
    // the statements of the dead worker go on in ClickHouse for longer than this test
    const endMarked = (): Ended => new Promise(() => (marked += 1));
    pool = await startPool(endMarked, 2, { onLost: () => (lost += 1) });
    // of two workers a tenant is in one
    await Promise.all(Array.from({ length: 3 }, () => pool.run(job(1, 'stay'))));
    expect(await pool.run(job(1, 'die')).catch((error: unknown) => error)).to.be.instanceOf(Error);
    expect({ lost, marked }).to.deep.equal({ lost: 1, marked: 1 });
    await ofTenants(pool, 8, 'stay');
  });

  it('has a tenant whose work is most of all in patient workers, and the others elsewhere', async () => {
    let cpuMs = 0;
    const statements = (): RunningStatement[] => [{ id: 's', tenantId: 1, cpuMs: (cpuMs += 100_000) }];
    pool = await startPool(() => Promise.resolve(), WORKERS, { statements });
    await ofTenants(pool, 3 * WORKERS, 'live');
    const nices = new Map(pool.pids.map((pid) => [pid, os.getPriority(pid)]));
    const least = Math.min(...nices.values());
    const isPatient = (pid: number): boolean => (nices.get(pid) ?? 0) > least;
    expect([...nices.keys()].filter(isPatient)).to.have.length(WORKERS / 2);
    await pool.run(job(3, 'stay')); // while there is work, what statements have used is looked up
    const pidsOf = async (tenantId: number): Promise<number[]> =>
      (await Promise.all(Array.from({ length: 4 }, () => answerOf(pool, tenantId, 'live')))).map(Number);
    while (!(await pidsOf(1)).every(isPatient));
    // a worker that is short of CPU is silent, and then a patient one takes its place
    for (let tenant = 20; (await pidsOf(tenant)).some(isPatient); tenant++);
  });

  it('moves the queries of others out of a worker that stands still, and begins none of its tenant again in the same place', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-once-'));
    const once = (name: string): string => `once ${path.join(folder, name)}`;
    try {
      // of two workers a tenant is in one
      pool = await startPool(() => Promise.resolve(), 2);
      // none is ready yet: the first one that is gets all three
      const [own, other, pause] = [answerOf(pool, 1, once('own')), answerOf(pool, 2, once('other')), pool.run(job(1, 'pause'))];
      const ended = Promise.allSettled([own, pause]);
      let isAnswered = false;
      own.then(() => (isAnswered = true)).catch(() => undefined);
      await other;
      // it is in the same place, when that goes on
      await answerOf(pool, 1, 'live');
      expect(isAnswered).to.equal(false);
      await pool.stop();
      expect((await ended).map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

import { expect } from 'chai';
import { setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import type { EngineAnswer, QueryEngine, QueryJob } from '../../../../api/query/engine.ts';
import { LocalEngine } from '../../../../api/engine/local-engine.ts';
import { QueryPool } from '../../../../api/engine/workers/query-pool.ts';
import { HttpError } from '../../../../pipeline/core/errors.ts';
import { sql } from '../../../../pipeline/core/sql.ts';
import { Store } from '../../../../pipeline/store/client.ts';
import { until } from '../../instance.ts';
import { builtWorker } from '../../built-worker.ts';
import { LogsqlStore } from '../../logsql-store.ts';
import { at } from '../../query-setup.ts';

const LIMITS = { maxFacetFields: 50 };
const NEVER = new AbortController().signal;
setMaxListeners(0, NEVER);
const [START, END] = ['2026-11-18T00:00:00Z', '2026-11-19T00:00:00Z'];
const ENTRIES = 20_000;
const MAX_BYTES = 600 * 1024 * 1024;

type Asked = Partial<QueryJob> & Pick<QueryJob, 'operation' | 'parameters'>;

describe('query workers', function () {
  this.timeout(300_000);
  let own: LogsqlStore;
  let pool: QueryPool;
  let local: LocalEngine;
  const lost: string[] = [];
  /** Of workers that were gone while they had work; each is there when its statements have ended. */
  const ended: string[] = [];
  before(async () => {
    own = await LogsqlStore.start();
    const entries = Array.from({ length: ENTRIES }, (_, i) =>
      at(i / 100, { _msg: `message number ${String(i)}`, n: String(i), app: `a${String(i % 7)}` }),
    );
    await own.insert(1, entries);
    await own.insert(2, entries.slice(0, 10));
    local = new LocalEngine({ store: own.store, now: () => BigInt(Date.now()) * 1_000_000n, limits: LIMITS });
    const log = pino({ level: 'silent' });
    const store = {
      endMarked: (mark: string) => own.store.endMarked(mark).then(() => void ended.push(mark)),
      runningStatements: () => own.store.runningStatements(),
    };
    pool = new QueryPool({
      clickhouse: own.config,
      limits: LIMITS,
      store,
      log,
      workers: 3,
      maxBytes: MAX_BYTES,
      program: builtWorker,
      onLost: (why) => lost.push(why),
    });
    await pool.start();
  });
  after(async () => {
    await pool.stop();
    await own.stop();
  });
  beforeEach(() => (lost.length = 0));

  const jobOf = (asked: Asked): QueryJob => ({
    ...{ tenantId: 1, retentionDays: 0, atOnce: 4, requestId: 'r', startedAt: performance.now(), timeoutMs: 60_000 },
    ...{ signal: NEVER },
    ...asked,
  });
  const select = (query: string, more: Record<string, string> = {}): string =>
    new URLSearchParams({ query, start: START, end: END, ...more }).toString();
  const search = (query: string, limit = 100): Asked => ({
    operation: 'search',
    parameters: { query, start: START, end: END, limit, before: null, enrich: false },
  });

  async function textOf({ headers, body, stream }: EngineAnswer): Promise<unknown> {
    const parts: Buffer[] = [];
    for await (const part of stream ?? []) parts.push(Buffer.from(part));
    const whole = typeof body === 'string' || Buffer.isBuffer(body) ? String(body) : JSON.stringify(body ?? '');
    // how long it took, and when
    return [headers, (stream === undefined ? whole : Buffer.concat(parts).toString()).replace(/"elapsed_ms":\d+/, '')];
  }
  const answer = (engine: QueryEngine, asked: Asked): Promise<unknown> =>
    engine
      .run(jobOf(asked))
      .then(textOf)
      .catch((error: unknown) => (error instanceof HttpError ? [error.status, error.slug, error.message, error.options] : String(error)));
  const ok = async (asked: Asked): Promise<string> => {
    const [, text] = (await pool.run(jobOf(asked)).then(textOf)) as [unknown, string];
    return text;
  };

  const cases: [string, Asked][] = [
    ['entries', search('*', 10_000)],
    ['rows of pipes in memory', search('* | format "<n>-<app>" as x | sort by (x) | limit 3 | fields x')],
    ['a count', search('* | stats by (app) count() n | sort by (app)')],
    ['a subquery', search('app:in(app:a1 | fields app) | limit 5')],
    ['a syntax error', search('count(')],
    ['a wrong window', { operation: 'hits', parameters: { query: '*', start: 'never', end: END, step: '1h', fields_by: [] } }],
    ['hits', { operation: 'hits', parameters: { query: '*', start: START, end: END, step: '1h', fields_by: ['app'] } }],
    ['facets', { operation: 'facets', parameters: { query: '*', start: START, end: END, limit: 5 } }],
    ['streams', { operation: 'streams', parameters: { query: '*', start: START, end: END } }],
    ['an explanation', { operation: 'explain', parameters: search('* | sort by (n) | limit 3').parameters }],
    ['lines, all of them', { operation: 'select/query', parameters: select('*') }],
    ['lines, the newest', { operation: 'select/query', parameters: select('*', { limit: '10' }) }],
    ["VictoriaLogs' values", { operation: 'select/field_values', parameters: select('*', { field: 'app' }) }],
    ['a wrong argument', { operation: 'select/query', parameters: select('*', { limit: '-1' }) }],
    ['an operation that there is not', { operation: 'nothing', parameters: null }],
  ];
  for (const [what, asked] of cases)
    it(`answer as this process would: ${what}`, async () => {
      const [there, here] = [await answer(pool, asked), await answer(local, asked)];
      expect(there).to.deep.equal(here);
    });

  it('keep tenants apart', async () => {
    expect(await ok({ ...search('* | stats count() n'), tenantId: 2 })).to.include('"n":10');
    expect(await ok({ ...search('* | stats count() n'), tenantId: 3 })).to.include('"n":0');
  });

  it('run many at once, of many tenants', async () => {
    const asked = Array.from({ length: 40 }, (_, i) => ok({ ...search('* | stats count() n'), tenantId: 1 + (i % 5) }));
    const counts = (await Promise.all(asked)).map((text) => Number(/"n":(\d+)/.exec(text)?.[1]));
    expect(new Set(counts)).to.deep.equal(new Set([ENTRIES, 10, 0]));
  });

  const GROWING = Array.from({ length: 8 }, () => 'replace ("0", "0000000000") at _msg').join(' | ');

  it('end a query that takes too much memory, name its pipes, and no other one', async () => {
    const attack = answer(pool, search(`* | format "0000000000" as _msg | ${GROWING} | fields _msg`, 10_000));
    const others = Array.from({ length: 30 }, (_, i) => ok({ ...search('* | stats count() n'), tenantId: 2 + (i % 3) }));
    const [status, slug, detail] = (await attack) as [number, string, string];
    expect([status, slug]).to.deep.equal([504, 'query_timeout']);
    expect(detail).to.match(/replace|bytes|memory/);
    expect((await Promise.all(others)).every((text) => text.includes('"n":'))).to.equal(true);
    expect(await ok(search('* | stats count() n'))).to.include(`"n":${String(ENTRIES)}`);
  });

  // the budget of rows does not answer first here
  const WIDER = Array.from({ length: 4 }, () => 'replace ("0", "0000000000") at x').join(' | ');
  const HEAVY = `* | format "0000000000" as x | ${WIDER} | sort by (x, n)`;
  for (const [why, more, what] of [
    ['crash', Infinity, 'its heap is full, which ends it by itself'],
    ['memory', 20 * 1024 * 1024, 'all of them take more than they may'],
  ] as const)
    it(`take one query with them, whose pipes are told, where ${what}`, async () => {
      const sizes = pool.pids.map(
        (pid) => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8'))?.[1]) * 1024,
      );
      const gone: string[] = [];
      const loose = new QueryPool({
        ...{ clickhouse: own.config, limits: LIMITS, store: own.store, log: pino({ level: 'silent' }), workers: 3, program: builtWorker },
        memory: { maxRows: 1e9, maxBytes: 1e12 },
        maxBytes: Math.max(...sizes) * 3 + more,
        onLost: (how) => gone.push(how),
      });
      await loose.start();
      try {
        const attack = answer(loose, { ...search(HEAVY, 10_000), timeoutMs: 240_000 });
        const [status, slug, detail] = (await attack) as [number, string, string];
        expect([status, slug]).to.deep.equal([504, 'query_timeout']);
        expect(detail).to.match(/more memory than it may have in its pipes .*replace.*sort/);
        // where nobody looks in time, V8 ends it first
        expect(gone).to.satisfy((ways: string[]) => ways.includes(why) || (why === 'memory' && ways.includes('crash')));
        expect(String(await answer(loose, search('* | stats count() n')))).to.include(`"n":${String(ENTRIES)}`);
      } finally {
        await loose.stop();
      }
    });

  it('end a query that uses a process up beyond its time, and no other one, of the same tenant either', async () => {
    const slow = '* | format "x" as k | join by (k) (* | format "x" as k | fields k) | stats count() n';
    const attack = answer(pool, { ...search(slow), timeoutMs: 3000 });
    const others: Promise<string>[] = [];
    for (let i = 0; i < 20; i++) others.push(ok({ ...search('* | stats count() n'), tenantId: 1 + (i % 2) }));
    const [status, slug] = (await attack) as [number, string];
    expect([status, slug]).to.deep.equal([504, 'query_timeout']);
    expect(await Promise.all(others)).to.have.length(20);
  });

  it('begin a query anew whose process was killed, and have another process then', async () => {
    const before = new Set(pool.pids);
    const running = Array.from({ length: 12 }, (_, i) => ok({ ...search('* | stats by (app) count() n'), tenantId: 1 + (i % 3) }));
    for (const pid of before) process.kill(pid, 'SIGKILL');
    const answers = await Promise.allSettled(running);
    // the one that a process was working on just then may have been what ended it
    const failed = answers.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
    expect(failed.length, failed.join('; ')).to.be.at.most(3);
    expect(await ok(search('* | stats count() n'))).to.include(`"n":${String(ENTRIES)}`);
    expect(pool.pids.filter((pid) => before.has(pid))).to.deep.equal([]);
  });

  it('have what a process leaves running in ClickHouse ended, and nothing else', async () => {
    ended.length = 0;
    // more than fits between ClickHouse and who does not take it
    await own.insert(
      9,
      Array.from({ length: 40 }, (_, i) => at(i, { _msg: 'x'.repeat(1_900_000) })),
    );
    const idsOf = async (pattern: string): Promise<string[]> =>
      (await own.store.ownerRows('SELECT query_id FROM system.processes WHERE match(query_id, {pattern:String})', { pattern }))
        .map(String)
        .sort();
    const { stream } = await pool.run(
      jobOf({ operation: 'select/query', parameters: select('*'), tenantId: 9, requestId: 'lost', isExport: true }),
    );
    const rows = (stream as AsyncIterable<string | Uint8Array>)[Symbol.asyncIterator]();
    await rows.next();
    const [id = ''] = await until(
      'the statement',
      () => idsOf('^lost-'),
      (ids) => ids.length > 0,
    );
    for (const pid of pool.pids) process.kill(pid, 'SIGKILL');
    const [mark = ''] = await until(
      'the end of what was left',
      () => Promise.resolve(ended),
      (marks) => marks.length > 0,
    );
    expect(id.endsWith(mark)).to.equal(true);
    expect(await idsOf('^lost-')).to.deep.equal([]);
    const { user: readerUser, password: readerPassword } = own.config;
    const [left, kept] = ['-left', '-kept'].map((mark) => new Store({ ...own.config, readerUser, readerPassword }, mark)) as [Store, Store];
    const slow = sql`SELECT sum(sleepEachRow(0.01)) FROM numbers(100000) SETTINGS max_block_size = 10`;
    const asked = [left, kept].map((store) => store.rows(slow, { tenantId: 1, timeoutMs: 60_000 }).catch(String));
    const running = async (): Promise<string[]> => (await idsOf('-(left|kept)$')).map((one) => one.slice(-5)).sort();
    await until('both', running, (both) => both.length === 2);
    await own.store.endMarked('-left');
    expect(await running()).to.deep.equal(['-kept']);
    await own.store.endMarked('-kept');
    expect(await running()).to.deep.equal([]);
    await Promise.all([...asked, left.close(), kept.close()]);
  });

  it('run four of a tenant at once; more wait, and too many are refused, while another tenant has its answer', async () => {
    const many = Array.from({ length: 60 }, () => answer(pool, search('* | stats by (app) count() n')));
    expect(await ok({ ...search('* | stats count() n'), tenantId: 2 })).to.include('"n":10');
    const statuses = (await Promise.all(many)).map((one) => (one as [unknown])[0]);
    const refused = statuses.filter((status) => status === 429);
    expect(refused.length).to.be.within(1, 60 - 32);
    expect(statuses.filter((status) => status !== 429 && status !== undefined)).to.deep.equal([]);
  });

  it('end what nobody waits for any more', async () => {
    const gone = new AbortController();
    const asked = pool.run(jobOf({ ...search('* | sort by (_msg)'), signal: gone.signal })).catch(String);
    gone.abort();
    expect(await asked).to.include('The client closed the connection');
    const { stream } = await pool.run(jobOf({ operation: 'select/query', parameters: select('*') }));
    for await (const part of stream ?? []) {
      expect(part.length).to.be.above(0);
      break;
    }
    expect(await ok(search('* | stats count() n'))).to.include(`"n":${String(ENTRIES)}`);
    expect(lost).to.deep.equal([]);
  });

  it('run two exports of a tenant, which hold up neither its queries nor those of others; a third waits', async () => {
    const open = async (): Promise<AsyncIterator<string | Uint8Array>> => {
      const { stream } = await pool.run(jobOf({ operation: 'select/query', parameters: select('*'), isExport: true }));
      const rows = (stream as AsyncIterable<string | Uint8Array>)[Symbol.asyncIterator]();
      // only what was begun can be left
      await rows.next();
      return rows;
    };
    const [first, second] = await Promise.all([open(), open()]);
    let isOpen = false;
    const third = open().then((rows) => {
      isOpen = true;
      return rows;
    });
    const asked = [1, 1, 1, 1, 1, 2, 3].map((tenantId) => ok({ ...search('* | stats count() n'), tenantId }));
    expect((await Promise.all(asked)).every((text) => text.includes('"n":'))).to.equal(true);
    expect(isOpen).to.equal(false);
    await first.return?.();
    await (await third).return?.();
    await second.return?.();
  });
});

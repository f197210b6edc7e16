import { expect } from 'chai';
import { pino } from 'pino';
import type { EngineAnswer, QueryJob } from '../../../../api/query/engine.ts';
import { QueryPool } from '../../../../api/engine/workers/query-pool.ts';
import { builtWorker } from '../../built-worker.ts';
import { LogsqlStore } from '../../logsql-store.ts';
import { at } from '../../query-setup.ts';
import { extent, isWhole } from '../../../extent.ts';

const [START, END] = ['2026-11-18T00:00:00Z', '2026-11-19T00:00:00Z'];
/** More than two pages of them. */
const ENTRIES = extent(40, 60);
const LARGE = 1_900_000;
const MB = 1024 * 1024;

type Page = { readonly logs: readonly { readonly n: string }[]; readonly has_more: boolean; readonly oldest_time: string | null };

const textOf = (body: EngineAnswer['body']): string => (typeof body === 'string' || Buffer.isBuffer(body) ? body.toString() : '');

describe('answers of large entries', function () {
  this.timeout(900_000);
  let own: LogsqlStore;
  let pool: QueryPool;
  before(async () => {
    own = await LogsqlStore.start();
    for (let n = 0; n < ENTRIES; n += 10)
      await own.insert(
        1,
        // two of each time, so that pages end inside of one
        Array.from({ length: 10 }, (_none, index) =>
          at(Math.floor((n + index) / 2), { n: `n${String(n + index)}`, _msg: 'x '.repeat(LARGE / 2) }),
        ),
      );
    const log = pino({ level: 'silent' });
    pool = new QueryPool({
      ...{ clickhouse: own.config, store: own.store, log, limits: { maxFacetFields: 50 } },
      ...{ workers: 3, maxBytes: 600 * MB, program: builtWorker },
    });
    await pool.start();
  });
  after(async () => {
    await pool.stop();
    await own.stop();
  });

  const run = async (operation: string, parameters: unknown): Promise<EngineAnswer> => {
    const job: QueryJob = {
      ...{
        operation,
        parameters,
        tenantId: 1,
        retentionDays: 0,
        atOnce: 4,
        requestId: 'r',
        startedAt: performance.now(),
        timeoutMs: 300_000,
      },
      ...{ signal: new AbortController().signal },
    };
    return pool.run(job);
  };
  const search = async (
    query: string,
    limit: number,
    before: string | null = null,
  ): Promise<{ readonly page: Page; readonly bytes: number }> => {
    const { body, stream } = await run('search', { query, start: START, end: END, limit, before, enrich: false });
    const parts: Buffer[] = [];
    for await (const part of stream ?? []) parts.push(Buffer.from(part));
    const text = stream === undefined ? textOf(body) : Buffer.concat(parts).toString();
    return { page: JSON.parse(text) as Page, bytes: text.length };
  };
  const all = Array.from({ length: ENTRIES }, (_none, index) => `n${String(ENTRIES - 1 - index)}`);

  for (const query of isWhole ? ['*', 'x', '* | filter n:value_type(string)', '* | fields _time, _msg, n'] : ['*', 'x'])
    for (const limit of isWhole ? [1000, 20] : [query === 'x' ? 20 : 1000])
      it(`${query}: pages of at most 32 MiB and ${String(limit)} entries have each entry once`, async () => {
        const seen: string[] = [];
        for (let before: string | null = null, isLast = false; !isLast;) {
          const { page, bytes } = await search(query, limit, before);
          seen.push(...page.logs.map(({ n }) => n));
          expect(bytes).to.be.below(33 * MB);
          expect(page.has_more).to.equal(seen.length < ENTRIES);
          isLast = !page.has_more;
          before = page.oldest_time;
        }
        expect(seen).to.deep.equal(all);
      });

  it('are complete where several are asked for at once', async () => {
    const pages = await Promise.all(Array.from({ length: extent(4, 6) }, () => search('*', 1000)));
    for (const { page } of pages) {
      expect(page.logs.map(({ n }) => n)).to.deep.equal(all.slice(0, page.logs.length));
      expect(page.logs.length).to.be.above(0);
      expect(page.has_more).to.equal(true);
    }
  });

  it('come as they are found where lines have no limit', async () => {
    const { stream } = await run('select/query', new URLSearchParams({ query: '*', start: START, end: END }).toString());
    let size = 0;
    for await (const part of stream ?? []) size += part.length;
    expect(size).to.be.above(ENTRIES * LARGE);
  });

  it('are newest first where they are too large to be turned round', async () => {
    const { stream } = await run(
      'select/query',
      new URLSearchParams({ query: '* | fields n, _msg', start: START, end: END, limit: String(ENTRIES - 10) }).toString(),
    );
    const names: string[] = [];
    let text = '';
    for await (const part of stream ?? [])
      text += Buffer.from(part)
        .toString('latin1')
        .replace(/(?:x ){100,}/g, '');
    for (const [, name = ''] of text.matchAll(/"n":"(n\d+)"/g)) names.push(name);
    expect(names).to.deep.equal(all.slice(0, ENTRIES - 10));
  });
});

import { expect } from 'chai';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { LocalEngine } from '../../../api/engine/local-engine.ts';
import type { QueryJob } from '../../../api/query/engine.ts';
import { sql } from '../../../pipeline/core/sql.ts';
import { Store } from '../../../pipeline/store/client.ts';

const REQUEST_ID = 'from-a-client';

describe('statements of a request', () => {
  const ids: string[] = [];
  const priorities: (string | null)[] = [];
  const server = http.createServer((request, response) => {
    const given = new URL(request.url ?? '', 'http://x').searchParams;
    ids.push(given.get('query_id') ?? '');
    priorities.push(given.get('priority'));
    request.resume().on('end', () => response.end('["a"]\n'));
  });
  let store: Store;
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    store = new Store({ ...{ url, user: 'o', password: '', database: 'd', readerUser: 'r', readerPassword: '' } });
  });
  after(async () => {
    await store.close();
    server.close();
  });
  beforeEach(() => void ids.splice(0));

  const search = (more: Partial<QueryJob> = {}): Promise<unknown> =>
    new LocalEngine({ store, now: () => 10n ** 18n, limits: { maxFacetFields: 1 } })
      .run({
        ...{ operation: 'search', parameters: { query: 'a', start: '-1h', end: 'now', limit: 1, before: null, enrich: false } },
        ...{ tenantId: 1, retentionDays: 0, atOnce: 4, requestId: REQUEST_ID, startedAt: 0, timeoutMs: 5000 },
        ...{ signal: new AbortController().signal },
        ...more,
      })
      // what this server answers is no entry
      .catch(() => undefined);

  it('begin their query_id with the id of the request, and no two are the same', async () => {
    await search();
    expect(ids.splice(0)).to.satisfy((own: string[]) => own.length > 0 && own.every((id) => id.startsWith(`${REQUEST_ID}-`)));
    const options = { tenantId: 1, timeoutMs: 5000, requestId: REQUEST_ID };
    await store.rows(sql`SELECT 1`, options);
    await store.rows(sql`SELECT 1`, options);
    for await (const texts of store.texts(sql`SELECT 1`, options) ?? []) expect(texts).to.deep.equal([['["a"]']]);
    // as rows are found, through the other client
    await store.rows(sql`SELECT 1`, { ...options, settings: { wait_end_of_query: 0 } });
    await store.ownerRows('SELECT 1', {}, undefined, REQUEST_ID);
    expect(ids).to.have.length(5);
    expect(new Set(ids).size).to.equal(5);
    for (const id of ids) expect(id).to.match(/^from-a-client-[0-9a-f-]{36}$/);
  });

  // ClickHouse has a statement wait while one with a lower number runs, and an export runs as long as its client takes
  it('of a tenant with much work wait for those of others, and exports for all', async () => {
    for (const [more, priority] of [
      [{}, '1'],
      [{ isHeavy: true }, '2'],
      [{ isExport: true }, '3'],
      [{ isExport: true, isHeavy: true }, '3'],
    ] as const) {
      priorities.splice(0);
      await search(more);
      expect(priorities[0], JSON.stringify(more)).to.equal(priority);
    }
  });
});

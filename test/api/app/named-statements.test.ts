import { expect } from 'chai';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { withRequestIds } from '../../../api/app/named-statements.ts';
import type { Request } from '../../../api/query/deps.ts';
import { createQueryRuntime } from '../../../api/query/runtime.ts';
import { sql } from '../../../pipeline/core/sql.ts';
import { Store } from '../../../pipeline/store/client.ts';

const REQUEST: Request = {
  ...{ tenantId: 1, retentionDays: 0, startedAt: 0, timeoutMs: 5000, requestId: 'from-a-client' },
  ...{ timeout: new AbortController().signal, signal: new AbortController().signal },
};

describe('statements of a request', () => {
  const ids: string[] = [];
  const server = http.createServer((request, response) => {
    ids.push(new URL(request.url ?? '', 'http://x').searchParams.get('query_id') ?? '');
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

  it('begin their query_id with the id of the request, and no two are the same', async () => {
    const limits = { platformEntriesPerSecond: 0, queryTimeoutSeconds: 30, maxFacetFields: 1 };
    const runtime = withRequestIds(createQueryRuntime({ store, now: () => 0n, limits }));
    const { options } = runtime.deps(false).runner(REQUEST);
    await store.rows(sql`SELECT 1`, options);
    await store.rows(sql`SELECT 1`, options);
    for await (const texts of store.texts(sql`SELECT 1`, options) ?? []) expect(texts).to.deep.equal([['["a"]']]);
    // as rows are found, through the other client
    await store.rows(sql`SELECT 1`, { ...options, settings: { wait_end_of_query: 0 } });
    await store.ownerRows('SELECT 1', {}, undefined, REQUEST.requestId);
    expect(ids).to.have.length(5);
    expect(new Set(ids).size).to.equal(5);
    for (const id of ids) expect(id).to.match(/^from-a-client-[0-9a-f-]{36}$/);
  });
});

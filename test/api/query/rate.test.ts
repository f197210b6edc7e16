import { expect } from 'chai';
import { createAlertRoutes } from '../../../api/alerts/routes.ts';
import { appEndpoint } from '../../../api/http/endpoint.ts';
import type { QueryEngine } from '../../../api/query/engine.ts';
import { QueryRuntime } from '../../../api/query/runtime.ts';
import { createQueryRoutes } from '../../../api/search/routes.ts';
import { createSelectEndpoints } from '../../../api/select/endpoints.ts';
import { rateLimited } from '../../../pipeline/core/errors.ts';
import { startHost } from '../../fakes/test-host.ts';

const T = '/api/v1/tenants/1';

describe('the rate of queries, over HTTP', () => {
  const asked: string[] = [];
  let host: Awaited<ReturnType<typeof startHost>>;
  before(async () => {
    const engine: QueryEngine = { run: () => Promise.resolve({ body: '{}' }) };
    const runtime = new QueryRuntime({
      engine,
      limits: { queryTimeoutSeconds: 30 },
      rate: ({ keyId }) => {
        asked.push(keyId);
        throw rateLimited('This key has sent too many queries.', 7);
      },
    });
    const routes = [...createQueryRoutes(runtime), ...createAlertRoutes(runtime, undefined as never)];
    host = await startHost({ endpoints: [...routes.map((route) => appEndpoint(route)), ...createSelectEndpoints(runtime)] });
  });
  after(() => host.stop());

  const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(host.url + path, { headers: { Authorization: 'Bearer all', 'Content-Type': 'application/json' }, ...init });

  it('the five paths of queries ask the rate of the key, and the others do not', async () => {
    const search = { method: 'POST', body: '{"query":"*"}' };
    for (const [path, init] of [
      [`${T}/search`, search],
      ...['hits', 'facets', 'streams', 'patterns'].map((name) => [`${T}/${name}`, {}]),
    ] as [string, RequestInit][]) {
      // prettier-ignore
      const before = asked.length;
      const answer = await ask(path, init);
      expect([answer.status, answer.headers.get('retry-after'), asked.length - before], path).to.deep.equal([429, '7', 1]);
      expect(await answer.json(), path).to.include({ detail: 'This key has sent too many queries.' });
    }
    const before = asked.length;
    expect((await ask(`${T}/alerts`)).status).to.equal(200);
    expect(asked).to.have.length(before);
  });

  it("VictoriaLogs' paths ask the same rate", async () => {
    for (const name of ['query', 'hits', 'facets', 'streams'])
      expect((await ask(`/select/logsql/${name}?query=*`)).status, name).to.equal(429);
    expect(new Set(asked).size).to.equal(1);
  });

  for (const [path, name] of [
    ['search', 'enrich'],
    ['search', 'explain'],
    ['spans/search', 'explain'],
  ] as const)
    it(`an \`${name}\` of /${path} that is no boolean is refused before the query counts`, async () => {
      const before = asked.length;
      for (const value of ['maybe', '1', 'TRUE ', 'True', '', '__proto__', "true' OR 1=1 --"]) {
        const answer = await ask(`${T}/${path}?${name}=${encodeURIComponent(value)}`, { method: 'POST', body: '{"query":"*"}' });
        const { detail } = (await answer.json()) as { readonly detail: string };
        expect([answer.status, detail], value).to.deep.equal([400, `${name} must be true or false.`]);
      }
      expect(asked).to.have.length(before);
    });
});

import { expect } from 'chai';
import { FORWARDED_PATHS } from '../../../api/auth/planes.ts';
import { appEndpoint, type Endpoint } from '../../../api/http/endpoint.ts';
import { appHostEndpoints, ingestHostEndpoints } from '../../../api/http/host-lists.ts';
import { ingestEndpoints } from '../../../api/ingest/ingest-endpoints.ts';
import { Metrics } from '../../../pipeline/core/metrics.ts';
import { FakeLogPublisher } from '../../fakes/log-publisher.ts';
import { drainFormat, elasticFormat, linesFormat } from '../../fakes/normalizers.ts';
import { startHost } from '../../fakes/test-host.ts';

const route = (path: string, method: 'GET' | 'POST'): Endpoint =>
  appEndpoint({ method, path, scope: 'read', handle: () => Promise.resolve({ status: 200, body: {} }) });

const APP_ONLY = [
  '/api/v1/tenants/:tenant_id/search',
  '/api/v1/tenants/:tenant_id/alerts',
  '/select/logsql/query',
  '/api/v1/account/projects',
  '/openapi.json',
  '/ws/livetail/:tenant_id',
  '/ui/*',
  '/',
];

describe('the two public hosts', () => {
  const ingest = ingestEndpoints({
    normalizers: [linesFormat, drainFormat, elasticFormat],
    publisher: new FakeLogPublisher(),
    limits: [],
    maxBodyBytes: 1000,
    metrics: new Metrics('test'),
  });
  const app = [...APP_ONLY.map((path) => route(path, 'GET')), ...FORWARDED_PATHS.map((path) => route(path, 'POST'))];
  const hosts: Record<string, Awaited<ReturnType<typeof startHost>>> = {};
  before(async () => {
    hosts['app'] = await startHost({ endpoints: appHostEndpoints(ingest, app) });
    hosts['ingest'] = await startHost({ endpoints: ingestHostEndpoints(ingest, app) });
  });
  after(() => Promise.all(Object.values(hosts).map((host) => host.stop())));

  async function status(host: string, method: string, path: string, key?: string): Promise<number> {
    const response = await fetch(`${hosts[host]?.url ?? ''}${path}`, {
      method,
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
    });
    await response.text();
    return response.status;
  }

  it('forwards exactly six paths', () => {
    expect([...FORWARDED_PATHS].sort()).to.deep.equal([
      '/api/v1/otel/v1/metrics',
      '/api/v1/write',
      '/api/v2/write',
      '/v1/metrics',
      '/v1/rum/replay',
      '/write',
    ]);
    expect(ingestHostEndpoints(ingest, app)).to.have.lengthOf(1 + ingest.length + 6);
  });

  for (const path of APP_ONLY.map((template) => template.replace(':tenant_id', '1').replace('*', 'index.html'))) {
    it(`${path} is on the app host only; on the ingest host 404 before credentials`, async () => {
      expect(await status('app', 'GET', path)).to.equal(401);
      expect(await status('app', 'GET', path, 'all')).to.equal(200);
      for (const key of [undefined, 'all', 'wrong']) expect(await status('ingest', 'GET', path, key)).to.equal(404);
      expect(await status('ingest', 'PATCH', path)).to.equal(404);
    });
  }

  for (const path of ['/lines', '/_bulk', ...FORWARDED_PATHS]) {
    it(`${path} is on both`, async () => {
      for (const host of ['app', 'ingest']) {
        expect(await status(host, 'POST', path)).to.equal(401);
        expect(await status(host, 'POST', path, 'wrong')).to.equal(403);
        expect(await status(host, 'POST', path, 'all')).to.equal(200);
        expect(await status(host, 'DELETE', path)).to.equal(405);
      }
    });
  }

  it('the rules of a credential follow the path, not the host', async () => {
    for (const host of ['app', 'ingest']) {
      const ask = async (path: string): Promise<number> =>
        (await fetch(`${hosts[host]?.url ?? ''}${path}`, { method: 'POST', headers: { authorization: 'bearer all' } })).status;
      expect(await ask('/lines')).to.equal(401);
      expect(await ask('/v1/metrics')).to.equal(200);
    }
  });

  it('/health is on both', async () => {
    for (const host of ['app', 'ingest']) expect(await status(host, 'GET', '/health')).to.equal(200);
  });
});

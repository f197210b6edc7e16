import { expect } from 'chai';
import { createPreviewRoutes } from '../../../api/alerts/preview-routes.ts';
import { appEndpoint } from '../../../api/http/endpoint.ts';
import type { Scope } from '../../../api/tenants/principal.ts';
import { FakeKeyStore } from '../../fakes/key-store.ts';
import { startHost } from '../../fakes/test-host.ts';

type Ran = { readonly operation: string; readonly parameters: unknown; readonly tenantId: number };

describe('previews', () => {
  let url: string;
  let stop: () => Promise<void>;
  let ran: Ran[] = [];

  before(async () => {
    const keys = new FakeKeyStore({ one: {}, two: { tenantId: 2 }, ingest: { scopes: new Set<Scope>(['ingest']) } });
    const routes = createPreviewRoutes({
      run: ({ principal: { tenantId } }, operation, parameters) => {
        ran.push({ operation, parameters, tenantId });
        return Promise.resolve({ body: '{}' });
      },
    });
    const host = await startHost({ keys, endpoints: routes.map((route) => appEndpoint(route)) });
    url = host.url;
    stop = () => host.stop();
  });
  after(() => stop());
  beforeEach(() => {
    ran = [];
  });

  async function preview(what: string, body: unknown, key = 'one', tenant = 1): Promise<{ status: number; text: string }> {
    const response = await fetch(`${url}/api/v1/tenants/${String(tenant)}/${what}/preview`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    return { status: response.status, text: await response.text() };
  }

  it('are queries of the key’s own tenant, over logs or spans', async () => {
    expect((await preview('rules', { query: 'level:error | stats count()', if: 'value > 5', by: ['service'] })).status).to.equal(200);
    expect((await preview('rules', { query: '* | stats count()', if: 'value > 5', signal: 'spans' }, 'two', 2)).status).to.equal(200);
    expect((await preview('detectors', { detector: 'log_rate' })).status).to.equal(200);
    expect((await preview('metric-rules', { watch: 'Load', expr: 'load', direction: 'up' })).status).to.equal(200);
    expect(ran.map(({ operation, tenantId }) => [operation, tenantId])).to.deep.equal([
      ['rules/preview', 1],
      ['spans/rules-preview', 2],
      ['detectors/preview', 1],
      ['metric-rules/preview', 1],
    ]);
    const [first, , detector, metric] = ran.map(({ parameters }) => parameters);
    expect((metric as { rule: object }).rule).to.include({ id: 'preview', watch: 'Load', expr: 'load', interval: '1m', direction: 'up' });
    expect((first as { rule: { query: string } }).rule.query).to.equal('level:error | stats by (service) count(*) as "count(*)"');
    expect(detector).to.deep.equal({ detector: 'log_rate', query: '*' });
  });

  it('refuse bodies that are none, other tenants and other scopes', async () => {
    const bad: readonly (readonly [string, unknown])[] = [
      ['rules', '{"__proto__":{"query":"*"},"query":"* | stats count()","if":"value > 1"}'],
      ['rules', { query: '* | stats count()' }],
      ['rules', { query: 7, if: 'value > 1' }],
      ['rules', '['.repeat(100_000)],
      ['metric-rules', { watch: 'a' }],
      ['metric-rules', { watch: 'a', expr: 'up', nosuch: 1 }],
      ['metric-rules', '{"watch":"a","expr":"up","__proto__":{"x":1}}'],
      ['detectors', {}],
      ['detectors', { detector: 'log_rate', query: 'x'.repeat(10_001) }],
      ['detectors', { detector: 'log_rate', query: ' ' }],
      ['detectors', { detector: 'log_rate', other: 1 }],
    ];
    for (const [what, body] of bad) expect((await preview(what, body)).status, JSON.stringify(body).slice(0, 80)).to.equal(400);
    expect((await preview('rules', { query: '* | stats count()', if: 'value > 1' }, 'one', 2)).status).to.equal(403);
    expect((await preview('rules', { query: '* | stats count()', if: 'value > 1' }, 'ingest')).status).to.equal(403);
    expect(ran).to.deep.equal([]);
  });
});

import { expect } from 'chai';
import { createTenant } from '../../../api/control/accounts.ts';
import { createDetectorRoutes } from '../../../api/alerts/detector-routes.ts';
import { findPlan, type Plan } from '../../../api/tenants/plans.ts';
import type { ControlStore } from '../../../api/control/control-store.ts';
import { appEndpoint } from '../../../api/http/endpoint.ts';
import type { Scope } from '../../../api/tenants/principal.ts';
import { alerting } from '../../../pipeline/alerting/streams/alerting.ts';
import { detectorLooks } from '../../../pipeline/alerting/settings/sensitivity.ts';
import { FakeControlTopic } from '../../fakes/control-log.ts';
import { controlNode } from '../../fakes/control-node.ts';
import { FakeKeyStore } from '../../fakes/key-store.ts';
import { startHost } from '../../fakes/test-host.ts';

describe('/detectors', () => {
  let control: ControlStore;
  let url: string;
  let stop: () => Promise<void>;
  const asked: string[] = [];

  before(async () => {
    control = (await controlNode(new FakeControlTopic())).store;
    for (const name of ['a', 'b']) await createTenant(control, name, 'team');
    const keys = new FakeKeyStore({
      ...{ one: {}, two: { tenantId: 2 }, demo: { demo: true }, expired: { tenantId: 2, plan: findPlan('trial_expired') as Plan } },
      ...{ reader: { scopes: new Set<Scope>(['read']) }, ingest: { scopes: new Set<Scope>(['ingest']) } },
    });
    const peers = {
      query: (path: string) => {
        asked.push(path);
        return Promise.resolve([]);
      },
    };
    const routes = createDetectorRoutes({
      ...{ control, peers, detectors: detectorLooks, checks: [alerting] },
      sensitivity: { processor: 'alerting', key: 'sensitivity' },
    });
    const host = await startHost({ keys, endpoints: routes.map((route) => appEndpoint(route)) });
    url = host.url;
    stop = () => host.stop();
  });
  after(() => stop());

  async function call(
    method: string,
    { key = 'one', tenant = 1, body }: { key?: string; tenant?: number; body?: unknown } = {},
  ): Promise<{ status: number; json: { rules?: unknown; defaults?: unknown; detectors?: unknown; detail?: string } }> {
    const response = await fetch(`${url}/api/v1/tenants/${String(tenant)}/detectors`, {
      method,
      headers: { Authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: response.status, json: (await response.json()) as { rules?: unknown; detail?: string } };
  }

  it('shows what there is, and what is set by the tenant and for all', async () => {
    const { status, json } = await call('GET', { key: 'reader' });
    expect([status, json.rules, json.defaults]).to.deep.equal([200, [], []]);
    expect(json.detectors).to.deep.equal(detectorLooks);
    for (const { description } of detectorLooks) expect(description).to.match(/^[A-Z].*\.$/);
  });

  it('sets all rules of a tenant, and is answered when every process has been told', async () => {
    const rules = [{ detector: 'silence', stream: '{service="batch"}', sensitivity: 'off' }];
    const { status, json } = await call('PUT', { body: { rules } });
    expect([status, json.rules]).to.deep.equal([200, rules]);
    expect(asked).to.deep.equal([`/admin/control/${control.offset.toString()}`]);
    expect((await call('GET')).json.rules).to.deep.equal(rules);
    expect((await call('GET', { key: 'two', tenant: 2 })).json.rules).to.deep.equal([]);
    expect(control.settings.map(({ processor, tenantId, key, value }) => [processor, tenantId, key, value])).to.deep.equal([
      ['alerting', 1, 'sensitivity', rules],
    ]);
    expect((await call('PUT', { body: { rules: [] } })).json.rules).to.deep.equal([]);
  });

  it("are a tenant's also when its trial has expired", async () => {
    const rules = [{ detector: 'log_rate', sensitivity: 'high' }];
    expect((await call('PUT', { key: 'expired', tenant: 2, body: { rules } })).status).to.equal(200);
    const { json } = await call('GET', { key: 'expired', tenant: 2 });
    expect(json.rules).to.deep.equal(rules);
    expect(json.detectors).to.deep.equal(detectorLooks);
    expect((await call('PUT', { key: 'two', tenant: 2, body: { rules: [] } })).status).to.equal(200);
  });

  it('refuses what is wrong, and those who may not', async () => {
    const before = control.offset;
    for (const body of [
      '{',
      '[]',
      {},
      { rules: 5 },
      { rules: [{}] },
      { rules: [], more: 1 },
      { rules: Array.from({ length: 51 }, () => ({ sensitivity: 'low' })) },
      '{"rules":[{"__proto__":{"sensitivity":"low"}}]}',
      { rules: [{ sensitivity: 'low', stream: `{a="${'x'.repeat(5000)}"}` }] },
    ])
      expect((await call('PUT', { body })).status, JSON.stringify(body).slice(0, 80)).to.equal(400);
    expect((await call('PUT', { body: { rules: [{ sensitivity: 'loud' }] } })).json.detail).to.equal(
      'Rule 1: the sensitivity is one of off, low, normal, high.',
    );
    for (const key of ['reader', 'demo', 'ingest']) expect((await call('PUT', { key, body: { rules: [] } })).status, key).to.equal(403);
    expect((await call('PUT', { key: 'two', body: { rules: [] } })).status).to.equal(403);
    expect((await call('GET', { key: 'ingest' })).status).to.equal(403);
    expect(control.offset).to.equal(before);
  });
});

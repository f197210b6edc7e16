import { expect } from 'chai';
import { createMetricRuleRoutes } from '../../../api/alerts/metric-rule-routes.ts';
import { createTenant } from '../../../api/control/accounts.ts';
import type { ControlStore } from '../../../api/control/control-store.ts';
import { appEndpoint } from '../../../api/http/endpoint.ts';
import type { Scope } from '../../../api/tenants/principal.ts';
import { metricRulePlaces } from '../../../main/roles/detection.ts';
import { metricRuleSettings } from '../../../pipeline/alerting/metrics/metric-rule-fault.ts';
import { FakeControlTopic } from '../../fakes/control-log.ts';
import { controlNode } from '../../fakes/control-node.ts';
import { FakeKeyStore } from '../../fakes/key-store.ts';
import { startHost } from '../../fakes/test-host.ts';

type Json = Readonly<Record<string, unknown>> & { readonly id?: string; readonly detail?: string; readonly items?: readonly Json[] };
type Call = { readonly key?: string; readonly tenant?: number; readonly id?: string; readonly body?: unknown };

const GOOD = { alert: 'High', expr: 'up == 0' };

describe('/metric-rules', () => {
  let control: ControlStore;
  let url: string;
  let stop: () => Promise<void>;

  before(async () => {
    control = (await controlNode(new FakeControlTopic())).store;
    for (const name of ['a', 'b']) await createTenant(control, name, 'team');
    const keys = new FakeKeyStore({
      ...{ one: {}, two: { tenantId: 2 }, demo: { demo: true } },
      ...{ reader: { scopes: new Set<Scope>(['read']) }, ingest: { scopes: new Set<Scope>(['ingest']) } },
    });
    const routes = createMetricRuleRoutes({
      ...{ control, checks: [metricRuleSettings], places: metricRulePlaces },
      peers: { query: () => Promise.resolve([]) },
    });
    const host = await startHost({ keys, endpoints: routes.map((route) => appEndpoint(route)) });
    url = host.url;
    stop = () => host.stop();
  });
  after(() => stop());

  async function call(method: string, { key = 'one', tenant = 1, id, body }: Call = {}): Promise<{ status: number; json: Json }> {
    const path = `${url}/api/v1/tenants/${String(tenant)}/metric-rules${id === undefined ? '' : `/${encodeURIComponent(id)}`}`;
    const response = await fetch(path, {
      method,
      headers: { Authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, json: (text === '' ? {} : JSON.parse(text)) as Json };
  }

  it('creates, lists, changes and deletes rules in the words of Prometheus', async () => {
    const labels = { severity: 'page', team: '{{ $labels.team }}' };
    const made = await call('POST', { body: { ...GOOD, group: 'node', for: '5m', labels, annotations: { summary: '{{ $value | humanize }}' } } }); // prettier-ignore
    expect(made.status).to.equal(201);
    const { id = '', created_at: createdAt, ...fields } = made.json;
    expect(id).to.match(/^mr_[\w-]{12}$/);
    expect(fields).to.deep.equal({ ...GOOD, group: 'node', interval: '1m', for: '5m', labels, annotations: { summary: '{{ $value | humanize }}' } }); // prettier-ignore
    expect((await call('GET', { key: 'reader' })).json).to.deep.equal({
      items: [made.json],
      total: 1,
      limit: 100,
      offset: 0,
      has_more: false,
      most: 40,
    });
    const changed = await call('PUT', { id, body: { record: 'job:up:sum', expr: 'sum by (job) (up)', interval: '30s' } });
    expect(changed.json).to.deep.equal({ id, created_at: createdAt, group: 'default', record: 'job:up:sum', expr: 'sum by (job) (up)', interval: '30s' }); // prettier-ignore
    const watching = { watch: 'Up', expr: 'sum by (job) (up)', group: 'g', interval: '5m', direction: 'down', sensitivity: 'high', labels: { severity: 'page' } }; // prettier-ignore
    expect((await call('PUT', { id, body: watching })).json).to.deep.equal({ id, created_at: createdAt, ...watching });
    expect((await call('GET', { key: 'two', tenant: 2 })).json.items).to.deep.equal([]);
    expect((await call('DELETE', { id })).status).to.equal(204);
    for (const method of ['GET', 'PUT', 'DELETE']) expect((await call(method, { id, ...(method === 'PUT' ? { body: GOOD } : {}) })).status).to.equal(404); // prettier-ignore
  });

  it('refuses what is wrong with a sentence that says so', async () => {
    const many = Object.fromEntries(Array.from({ length: 31 }, (_none, index) => [`l${String(index)}`, 'x']));
    const cases: readonly (readonly [unknown, RegExp])[] = [
      [{ expr: 'up' }, /one of "alert", "record" and "watch"/],
      [{ ...GOOD, record: 'x' }, /one of "alert", "record" and "watch"/],
      [{ ...GOOD, watch: 'x' }, /one of "alert", "record" and "watch"/],
      [{ watch: 'x'.repeat(101), expr: 'up' }, /1 to 100 characters/],
      [{ watch: 'x', expr: 'up', interval: '30s' }, /whole minutes from 1m to 1h/],
      [{ watch: 'x', expr: 'up', interval: '2h' }, /whole minutes from 1m to 1h/],
      [{ watch: 'x', expr: 'up', for: '1m' }, /A rule that watches has neither "for"/],
      [{ watch: 'x', expr: 'up', direction: 'constructor' }, /one of up, down, both/],
      [{ watch: 'x', expr: 'up', sensitivity: 'off' }, /one of low, normal, high/],
      [{ watch: 'x', expr: 'up', direction: 1 }, /must be a string/],
      [{ ...GOOD, direction: 'up' }, /of rules that watch/],
      [{ record: 'x', expr: 'up', sensitivity: 'low' }, /of rules that watch/],
      [{ ...GOOD, expr: 'rate(up' }, /not PromQL: 1:\d+: parse error/],
      [{ ...GOOD, expr: 'up[5m]' }, /not a range vector/],
      [{ ...GOOD, expr: '"x"' }, /not a string/],
      [{ ...GOOD, expr: `up${' + 1'.repeat(600)}` }, /1 to 2000 characters/],
      [{ ...GOOD, expr: '('.repeat(900) + 'up' + ')'.repeat(900) }, /not PromQL/],
      [{ ...GOOD, expr: 'up{a=~"(a{1,1000}){1,1000}"}' }, /not PromQL/],
      [{ record: 'a b', expr: 'up' }, /named as a metric/],
      [{ record: 'a', expr: 'up', for: '1m' }, /neither "for"/],
      [{ record: 'a', expr: 'up', annotations: { a: 'b' } }, /nor annotations/],
      [{ ...GOOD, interval: '5s' }, /from 10s to 1d/],
      [{ ...GOOD, interval: '1h30' }, /from 10s to 1d/],
      [{ ...GOOD, interval: '10500ms' }, /whole seconds/],
      [{ ...GOOD, for: '31d' }, /at most 30d/],
      [{ ...GOOD, keep_firing_for: '-1m' }, /at most 30d/],
      [{ ...GOOD, labels: { 'a-b': 'x' } }, /names of labels/],
      [{ ...GOOD, labels: { __name__: 'x' } }, /do not begin with "__"/],
      [{ ...GOOD, labels: { alertname: 'x' } }, /"alertname"/],
      [{ ...GOOD, labels: many }, /at most 30 labels/],
      [{ ...GOOD, labels: { a: 'x'.repeat(1001) } }, /at most 1000 characters/],
      [{ ...GOOD, labels: { a: 1 } }, /must be a string/],
      [{ ...GOOD, annotations: { a: '{{ $labels.x' } }, /template of "a" cannot be read: unclosed action/],
      [{ ...GOOD, annotations: { a: '{{ query "up" }}' } }, /function "query" not defined/],
      [{ ...GOOD, annotations: Object.fromEntries(Array.from({ length: 5 }, (_none, index) => [`a${String(index)}`, 'x'.repeat(1999)])) }, /at most 4096 bytes/],
      [{ ...GOOD, alert: 'x'.repeat(101) }, /1 to 100 characters/],
      [{ ...GOOD, group: 'x'.repeat(101) }, /1 to 100 characters/],
      [{ ...GOOD, nosuch: 1 }, /"nosuch" is not allowed/],
      ['{"alert":"a","expr":"up","__proto__":{"x":1}}', /"__proto__" is not allowed/],
      ['{"alert":"a","expr":"up","labels":{"__proto__":"x"}}', /"__proto__" is not allowed/],
      ['{"alert":', /JSON/],
      ['[]', /object/],
      ['null', /object|required/],
    ]; // prettier-ignore
    const before = control.offset;
    for (const [body, reason] of cases) {
      const { status, json } = await call('POST', { body });
      expect([status, json.detail], `${JSON.stringify(body).slice(0, 80)} ${json.detail ?? ''}`).to.satisfy(([code, detail]: [number, string]) => code === 400 && reason.test(detail)); // prettier-ignore
    }
    expect(control.offset).to.equal(before);
  });

  it('asks for scopes, tenants and no more rules than the plan has', async () => {
    for (const [key, status] of [
      ['reader', 403],
      ['ingest', 403],
      ['two', 403],
    ] as const)
      // prettier-ignore
      expect((await call('POST', { key, body: GOOD })).status, key).to.equal(status);
    expect((await call('GET', { key: 'ingest' })).status).to.equal(403);
    const made = await Promise.all(Array.from({ length: 40 }, () => call('POST', { body: GOOD })));
    expect(new Set(made.map(({ status }) => status))).to.deep.equal(new Set([201]));
    const beyond = await call('POST', { body: GOOD });
    expect([beyond.status, beyond.json.detail]).to.deep.equal([403, 'There are 40 rules already; the plan team has 40.']);
    expect((await call('POST', { key: 'two', tenant: 2, body: GOOD })).status).to.equal(201);
  });
});

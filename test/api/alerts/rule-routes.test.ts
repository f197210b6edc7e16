import { expect } from 'chai';
import { createRuleRoutes } from '../../../api/alerts/rule-routes.ts';
import { createTenant } from '../../../api/control/accounts.ts';
import type { ControlStore } from '../../../api/control/control-store.ts';
import { writeSetting } from '../../../api/control/processor-settings.ts';
import { appEndpoint } from '../../../api/http/endpoint.ts';
import type { Scope } from '../../../api/tenants/principal.ts';
import { ruleDetector } from '../../../main/roles/detection.ts';
import type { Setting } from '../../../pipeline/core/setting.ts';
import { CUSTOM_DETECTORS, detectorSwitches } from '../../../pipeline/alerting/settings/switch.ts';
import { rules } from '../../../pipeline/processors/rules/rules.ts';
import { MOST_RULES, ruleKey, ruleSettingFault } from '../../../pipeline/processors/rules/rules-fold.ts';
import { FakeControlTopic } from '../../fakes/control-log.ts';
import { controlNode } from '../../fakes/control-node.ts';
import { FakeKeyStore } from '../../fakes/key-store.ts';
import { startHost } from '../../fakes/test-host.ts';

type Answer = { readonly status: number; readonly json: Readonly<Record<string, unknown>> & { readonly id?: string;  readonly detail?: string; readonly items?: readonly Answer['json'][] } }; // prettier-ignore
type Call = { readonly key?: string; readonly tenant?: number; readonly id?: string; readonly body?: unknown };

const GOOD = { query: 'level:error | stats count()', if: 'value > 5' };

describe('/rules', () => {
  let control: ControlStore;
  let url: string;
  let stop: () => Promise<void>;
  const asked: string[] = [];

  before(async () => {
    control = (await controlNode(new FakeControlTopic())).store;
    for (const name of ['a', 'b']) await createTenant(control, name, 'team');
    const keys = new FakeKeyStore({
      ...{ one: {}, two: { tenantId: 2 }, demo: { demo: true } },
      ...{ reader: { scopes: new Set<Scope>(['read']) }, ingest: { scopes: new Set<Scope>(['ingest']) } },
    });
    const peers = {
      query: (path: string) => {
        asked.push(path);
        return Promise.resolve([]);
      },
    };
    const places = { processor: rules.name, slots: MOST_RULES, keyOf: ruleKey };
    const custom = [{ name: 'mine', version: 'v1' }, { name: 'loud', version: 'v2' }] as never; // prettier-ignore
    const names = ['mine', 'loud', 'gone'];
    const checks = [{ ...rules, checkSetting: (setting: Setting) => ruleSettingFault(setting, names) }];
    const routes = createRuleRoutes({ control, peers, checks, places, detectorOf: (condition) => ruleDetector({ control, custom }, condition) }); // prettier-ignore
    const host = await startHost({ keys, endpoints: routes.map((route) => appEndpoint(route)) });
    url = host.url;
    stop = () => host.stop();
  });
  after(() => stop());

  async function call(method: string, { key = 'one', tenant = 1, id, body }: Call = {}): Promise<Answer> {
    const path = `${url}/api/v1/tenants/${String(tenant)}/rules${id === undefined ? '' : `/${encodeURIComponent(id)}`}`;
    const response = await fetch(path, {
      method,
      headers: { Authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, json: (text === '' ? {} : JSON.parse(text)) as Answer['json'] };
  }

  it('creates, lists, changes and deletes rules, each answered when every process has been told', async () => {
    const made = await call('POST', { body: { ...GOOD, by: ['service', 'http.status'], name: 'errors', severity: 'critical' } });
    expect(made.status).to.equal(201);
    const { id = '', created_at: createdAt, ...fields } = made.json;
    expect(id).to.match(/^ru_[\w-]{12}$/);
    expect(fields).to.deep.equal({
      ...{ name: 'errors', query: 'level:error | stats by (service, http.status) count(*) as "count(*)"', every: '1m', if: 'value > 5' },
      ...{ for: 1, severity: 'critical', sensitivity: 'low' },
    });
    expect(asked.at(-1)).to.equal(`/admin/control/${control.offset.toString()}`);
    expect((await call('GET', { key: 'reader' })).json).to.deep.equal({
      items: [made.json],
      total: 1,
      limit: 100,
      offset: 0,
      has_more: false,
      most: 20,
    });
    expect((await call('GET', { id })).json).to.deep.equal(made.json);
    const changed = await call('PUT', { id, body: { query: '* | stats quantile(0.99, duration_ms)', if: 'anomaly up', every: '5m' } });
    expect(changed.json).to.include({ id, created_at: createdAt, if: 'anomaly up', every: '5m', name: '* | stats quantile(0.99, duration_ms)' }); // prettier-ignore
    expect(control.settings.map(({ processor, tenantId, key, version }) => [processor, tenantId, key, version])).to.deep.equal([
      ['rules', 1, 'rule_1', 2],
    ]);
    expect((await call('DELETE', { id })).status).to.equal(204);
    for (const method of ['GET', 'PUT', 'DELETE']) expect((await call(method, { id, ...(method === 'PUT' ? { body: GOOD } : {}) })).status).to.equal(404); // prettier-ignore
    expect((await call('GET')).json.items).to.deep.equal([]);
  });

  it('refuses what is wrong with a sentence that says so', async () => {
    const before = control.offset;
    const cases: readonly (readonly [unknown, RegExp])[] = [
      [{ query: 'level:error', if: 'value > 1' }, /a filter and one stats pipe/],
      [{ ...GOOD, query: '* | stats count(), sum(a)' }, /has one function/],
      [{ ...GOOD, query: '* | sort by (_time) | stats count()' }, /a filter and one stats pipe/],
      [{ ...GOOD, query: '* | stats row_any(a)' }, /does not run on the stream; there are count, rate, sum/],
      [{ ...GOOD, query: '* | stats sum(*)' }, /must name its fields/],
      [{ ...GOOD, query: '* | stats count_uniq(a) limit 5' }, /does not run on the stream/],
      [{ ...GOOD, query: '* | stats by (_time:5m) count()' }, /has no buckets/],
      [{ ...GOOD, query: '_time:5m | stats count()' }, /has no _time: filter/],
      [{ ...GOOD, query: 'user:in(level:error | fields user) | stats count()' }, /no query inside/],
      [{ ...GOOD, query: '_stream_id:0000000000000001 | stats count()' }, /streams by their labels|LogsQL/],
      [{ ...GOOD, query: 'a:( | stats count()' }, /The query is not LogsQL: /],
      [{ ...GOOD, query: '~"(a{1,20}){1,50}" | stats count()' }, /at most 1000 instructions/],
      [{ ...GOOD, query: `${'a '.repeat(600)}| stats count()` }, /1 to 1000 characters/],
      [
        { ...GOOD, query: `"${'f'.repeat(400)}":(${'a or '.repeat(90)}a) | stats count()` },
        /at most 4000 characters as they are written out/,
      ],
      [{ ...GOOD, query: `* | stats count() if ("${'f'.repeat(400)}":(${'a or '.repeat(90)}a))` }, /at most 4000 characters/],
      [{ ...GOOD, query: '* | stats by (a) count()', by: ['b'] }, /already groups/],
      [{ ...GOOD, by: ['a', 'b', 'c', 'd', 'e'] }, /at most 4 fields/],
      [{ ...GOOD, if: 'value ~ 5' }, /The condition is "value > 5"/],
      [{ ...GOOD, if: 'value > many' }, /compares with a number/],
      [{ ...GOOD, if: 'value > inf' }, /compares with a number/],
      [{ ...GOOD, if: 'theirs' }, /No detector "theirs" takes values; those that do: anomaly, mine, loud, gone/],
      [{ ...GOOD, if: 'log_rate up' }, /No detector "log_rate" takes values/],
      [{ ...GOOD, if: 'mine sideways' }, /The condition is "value > 5"/],
      [{ ...GOOD, if: '__proto__' }, /The condition is "value > 5"/],
      [{ ...GOOD, if: 'constructor' }, /No detector "constructor" takes values/],
      [{ ...GOOD, if: 'anomaly', for: 3 }, /"for" belongs to/],
      [{ ...GOOD, every: '2m' }, /evaluated every 1m, 5m, 15m, 1h/],
      [{ ...GOOD, every: '__proto__' }, /evaluated every/],
      [{ ...GOOD, severity: 'loud' }, /severity is one of info, warning, critical/],
      [{ ...GOOD, sensitivity: 'toString' }, /sensitivity is one of/],
      [{ ...GOOD, for: 0 }, /"for" is a number of windows/],
      [{ ...GOOD, for: 1.5 }, /"for" is a number of windows/],
      [{ ...GOOD, name: 'x'.repeat(101) }, /1 to 100 characters/],
      [{ ...GOOD, id: 'ru_mine' }, /"id" is not allowed/],
      ['{"query":"* | stats count()","if":"value > 1","__proto__":{"a":1}}', /__proto__/],
      [{ if: 'value > 1' }, /"query" is required/],
      ['[]', /object/],
      ['{', /./],
    ];
    for (const [body, detail] of cases) {
      const { status, json } = await call('POST', { body });
      expect([status, JSON.stringify(body).slice(0, 60)]).to.deep.equal([400, JSON.stringify(body).slice(0, 60)]);
      expect(json.detail).to.match(detail);
    }
    expect(control.offset).to.equal(before);
  });

  it('says of a rule that a detector of others watches it, and whether that is there', async () => {
    const off = { state: 'off', reason: 'too loud', since: '2026-11-24T00:00:00Z', version: 'v2' };
    const switches = detectorSwitches(['loud']);
    await writeSetting(control, [switches], { processor: CUSTOM_DETECTORS, tenantId: 0, key: 'loud', value: off });
    const ids: string[] = [];
    for (const [condition, detector] of [
      ['mine up', { name: 'mine', state: 'on', since: null, reason: null }],
      ['loud', { name: 'loud', state: 'off', since: '2026-11-24T00:00:00Z', reason: 'too loud' }],
      ['gone', { name: 'gone', state: 'missing', since: null, reason: null }],
      ['anomaly', undefined],
    ] as const) {
      const { status, json } = await call('POST', { body: { ...GOOD, if: condition } });
      expect([status, json['if'], json['detector']]).to.deep.equal([201, condition, detector]);
      expect((await call('GET', { id: json.id ?? '' })).json).to.deep.equal(json);
      expect((await call('GET')).json.items).to.deep.include(json);
      ids.push(json.id ?? '');
    }
    const changed = await call('PUT', { id: ids[3] ?? '', body: { ...GOOD, if: 'mine down' } });
    expect(changed.json['detector']).to.deep.include({ name: 'mine', state: 'on' });
    for (const id of ids) await call('DELETE', { id });
  });

  it('shows nothing of another tenant, and refuses those who may not', async () => {
    const { id = '' } = (await call('POST', { key: 'two', tenant: 2, body: GOOD })).json;
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const body = method === 'PUT' ? { body: GOOD } : {};
      expect((await call(method, { id, ...body })).status, method).to.equal(404);
      expect((await call(method, { id, tenant: 2, ...body })).status, method).to.equal(403);
    }
    for (const key of ['reader', 'demo', 'ingest']) {
      expect((await call('POST', { key, body: GOOD })).status, key).to.equal(403);
      expect((await call('DELETE', { key, id })).status, key).to.equal(403);
    }
    expect((await call('GET')).json.items).to.deep.equal([]);
    for (const hostile of ["' OR 1=1 --", '../../tenants', 'constructor', 'x'.repeat(2000)]) expect((await call('GET', { id: hostile })).status).to.equal(404); // prettier-ignore
  });

  it('takes as many as the plan has, and those that race for a place each get one', async () => {
    const made = await Promise.all(Array.from({ length: 5 }, () => call('POST', { body: GOOD })));
    expect(new Set(made.map(({ json }) => json.id)).size).to.equal(5);
    for (let more = 5; more < 20; more++) expect((await call('POST', { body: GOOD })).status).to.equal(201);
    const { status, json } = await call('POST', { body: GOOD });
    expect([status, json.detail]).to.deep.equal([403, 'There are 20 rules already; the plan team has 20.']);
    await call('DELETE', { id: made[0]?.json.id ?? '' });
    expect((await call('POST', { body: GOOD })).status).to.equal(201);
  });
});

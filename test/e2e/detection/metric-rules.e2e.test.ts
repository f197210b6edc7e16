import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { ShownAlert } from '../../../pipeline/alerting/book/shown-alert.ts';
import { repeat } from '../../../pipeline/core/repeat.ts';
import { adminCommand } from '../../../cli/admin.ts';
import { until, type Instance } from '../instance.ts';
import { newTenant, runCli, sharedInstance } from '../shared.ts';

type Group = { readonly name: string; readonly rules: readonly Readonly<Record<string, unknown>>[] };
type Series = { readonly metric: Readonly<Record<string, string>>; readonly values: readonly (readonly [number, string])[] };

const STEP = 10;
const FILE = `
groups:
  - name: node
    interval: ${String(STEP)}s
    rules:
      - alert: HighLoad
        expr: load > 4
        for: ${String(2 * STEP)}s
        labels: {severity: page}
        annotations: {summary: "Load of {{ $labels.instance }} is {{ $value | humanize }}"}
      - record: instance:load:max
        expr: max by (instance) (load)
      - alert: SlowOrders
        expr: max by (job) (order_took_seconds) > 0.2
      - alert: Broken
        expr: label_replace(load, "__name__", "", "instance", ".*") + on (nosuch) group_left (a) load
`;

let instance: Instance;
let tenant: { readonly id: number; readonly key: string };
let load = 7;
const over = new AbortController();
let sending = Promise.resolve();
let begun: Promise<string>;

const own = (): Record<string, string> => ({ Authorization: `Bearer ${tenant.key}` });
const of = (at: string): string => `${instance.app}/api/v1/tenants/${String(tenant.id)}${at}`;
const get = async <T>(at: string): Promise<T> => (await instance.call('GET', of(at), undefined, own())).body as T;

async function send(): Promise<void> {
  const body = `load,instance=a value=${String(load)}\nload,instance=b value=1\n`;
  await fetch(`${instance.app}/write`, { method: 'POST', headers: own(), body });
  const entry = { _msg: 'payment failed', service: 'checkout', level: 'error' };
  await instance.call('POST', `${instance.app}/api/v1/ingest`, [entry, entry], own());
}

/** A gauge with exemplars: one of a trace that is sent beside, one of none, one whose trace is no id. */
async function orders(): Promise<void> {
  const timeUnixNano = String(BigInt(Date.now()) * 1_000_000n);
  // of equal times of a series the last one counts
  const before = (ms: number): string => String(BigInt(Date.now() - ms) * 1_000_000n);
  const filteredAttributes = [{ key: 'trace_id', value: { stringValue: '<script>../..' } }];
  const exemplars = [
    { timeUnixNano, asDouble: 0.75, traceId: `${'0'.repeat(30)}10`, spanId: `${'0'.repeat(14)}10` },
    { timeUnixNano: before(10), asDouble: 0.5 },
    { timeUnixNano: before(20), asDouble: 0.25, filteredAttributes },
  ];
  const of = (job: string, own: object[]): object => ({
    resource: { attributes: [{ key: 'service.name', value: { stringValue: job } }] },
    scopeMetrics: [{ metrics: [{ name: 'order_took', unit: 's', gauge: { dataPoints: [{ timeUnixNano, asDouble: 0.5, exemplars: own }] } }] }], // prettier-ignore
  });
  await instance.call('POST', `${instance.app}/v1/metrics`, { resourceMetrics: [of('cart', exemplars), of('shop', [])] }, own());
}

async function spans(): Promise<void> {
  const now = BigInt(Date.now()) * 1_000_000n;
  const all = Array.from({ length: 6 }, (_none, index) => ({
    ...{ traceId: `${'0'.repeat(30)}${String(10 + index)}`, spanId: `${'0'.repeat(14)}${String(10 + index)}`, name: 'GET /cart', kind: 2 },
    ...{ startTimeUnixNano: String(now - 1_000_000n), endTimeUnixNano: String(now), status: { code: 2 } },
  }));
  const attributes = [{ key: 'service.name', value: { stringValue: 'cart' } }];
  const body = { resourceSpans: [{ resource: { attributes }, scopeSpans: [{ spans: all }] }] };
  await instance.call('POST', `${instance.app}/v1/traces`, body, own());
}

async function begin(): Promise<string> {
  instance = await sharedInstance();
  tenant = await newTenant(instance);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-rules-'));
  writeFileSync(path.join(folder, 'rules.yml'), FILE);
  const made = await instance.call('POST', of('/rules'), { signal: 'spans', name: 'failing', query: 'status:error | stats by (service) count()', if: 'value > 2' }, own()); // prettier-ignore
  expect(made.status).to.equal(201);
  const recorded = await instance.call('POST', of('/rules'), { query: 'level:error | stats by (service) count()', record: 'log_errors:count1m' }, own()); // prettier-ignore
  expect(recorded.status).to.equal(201);
  const watched = await instance.call('POST', of('/metric-rules'), { watch: 'Loads', expr: 'load', group: 'node', direction: 'up' }, own());
  expect(watched.status).to.equal(201);
  const { stdout, stderr } = await runCli(instance, tenant, ['rules', 'import', path.join(folder, 'rules.yml')]);
  rmSync(folder, { recursive: true });
  expect(stderr).to.equal('');
  await send();
  sending = repeat(2000, over.signal, () => Promise.all([send(), spans(), orders()]).then(() => undefined, () => undefined)); // prettier-ignore
  return stdout;
}

// before the files that run before this one: what fires takes its time, in which they use the instance anyway
before(() => {
  begun = begin();
  begun.catch(() => undefined);
});

describe('rules over metrics and spans', function () {
  this.timeout(600_000);
  after(() => {
    over.abort();
    return sending;
  });

  const alerts = async (): Promise<readonly ShownAlert[]> => (await get<{ readonly items: readonly ShownAlert[] }>('/alerts?state=all')).items; // prettier-ignore
  const groups = async (query = ''): Promise<readonly Group[]> =>
    (await get<{ readonly data: { readonly groups: readonly Group[] } }>(`/prometheus/api/v1/rules${query}`)).data.groups;
  const ruleOf = async (name: string): Promise<Group['rules'][number]> =>
    (await groups()).flatMap(({ rules }) => rules).find((rule) => rule['name'] === name) ?? {};
  const series = async (query: string): Promise<readonly Series[]> => {
    const { data } = await get<{ readonly data: { readonly result: readonly Series[] } }>(`/prometheus/api/v1/query?query=${encodeURIComponent(query)}`); // prettier-ignore
    return data.result;
  };

  it('come from a rule file, fire in the book of alerts, and are shown as Prometheus shows them', async () => {
    expect(await begun).to.match(/4 created, 0 changed, 0 deleted, 0 unchanged/);
    const found = await until('the alert', alerts, (all) => all.some(({ title }) => title === 'Load of a is 7'));
    const alert = found.find(({ title }) => title === 'Load of a is 7');
    expect(alert).to.include({ detector_type: 'rule', severity: 'critical', state: 'firing', stream: '{instance="a",severity="page"}' });
    const rule = await until('its state', () => ruleOf('HighLoad'), (one) => one['state'] === 'firing'); // prettier-ignore
    expect(rule).to.include({ type: 'alerting', health: 'ok', duration: 2 * STEP, query: 'load > 4' });
    const [shown] = rule['alerts'] as readonly Readonly<Record<string, unknown>>[];
    expect(shown).to.deep.include({ state: 'firing', value: '7e+00', labels: { alertname: 'HighLoad', instance: 'a', severity: 'page' } });
    const { data } = await get<{ readonly data: { readonly alerts: readonly { readonly labels: Record<string, string> }[] } }>('/prometheus/api/v1/alerts'); // prettier-ignore
    expect(data.alerts.filter(({ labels }) => labels['alertname'] === 'HighLoad')).to.have.length(1);
    const broken = await until('the error', () => ruleOf('Broken'), (one) => one['health'] === 'err'); // prettier-ignore
    expect(broken['lastError']).to.be.a('string').that.is.not.equal('');
    expect((await groups('?type=record')).flatMap(({ rules }) => rules.map((one) => one['name']))).to.deep.equal(['instance:load:max']);
    expect(await groups('?rule_group[]=nosuch')).to.deep.equal([]);
    const refused = await instance.call('GET', of('/prometheus/api/v1/rules?type=nosuch'), undefined, own());
    expect([refused.status, (refused.body as { readonly errorType: string }).errorType]).to.deep.equal([400, 'bad_data']);
    const other = await newTenant(instance);
    const foreign = await instance.call('GET', of('/prometheus/api/v1/rules'), undefined, { Authorization: `Bearer ${other.key}` });
    expect(foreign.status).to.equal(403);
  });

  it('over spans fire with slow and failing traces', async () => {
    const found = await until('the alert', alerts, (all) => all.some(({ title }) => title.startsWith('Spans of cart rose to')));
    const alert = found.find(({ title }) => title.startsWith('Spans of cart rose to'));
    expect(alert?.evidence).to.include.keys('slow_traces', 'failing_traces', 'spans');
    const [failing] = (alert?.evidence['failing_traces'] ?? []) as readonly { readonly trace_id: string }[];
    expect(failing?.trace_id).to.match(/^0{30}1\d$/);
  });

  it('name the traces of the exemplars of the series that they select', async () => {
    const isOf = (job: string) => ({ title }: ShownAlert): boolean => title.startsWith('SlowOrders') && title.includes(`"${job}"`); // prettier-ignore
    const found = await until('the alerts', alerts, (all) => all.some(isOf('shop')) && all.some((one) => isOf('cart')(one) && one.evidence['exemplars'] !== undefined)); // prettier-ignore
    expect(found.find(isOf('shop'))?.evidence).to.not.have.property('exemplars');
    const evidence = found.find(isOf('cart'))?.evidence ?? {};
    const exemplars = evidence['exemplars'] as readonly Readonly<Record<string, unknown>>[];
    // the others have no trace
    expect(exemplars.map(({ time: _time, ...one }) => one)).to.deep.equal([
      { trace_id: `${'0'.repeat(30)}10`, span_id: `${'0'.repeat(14)}10`, value: 0.75, metric: 'order_took_seconds', link: `/traces/${'0'.repeat(30)}10` }, // prettier-ignore
    ]);
    expect((await instance.call('GET', of(String(exemplars[0]?.['link'])), undefined, own())).status).to.equal(200);
    const { exemplars: link } = evidence['links'] as { readonly exemplars: string };
    expect((await get<{ readonly data: readonly object[] }>(link)).data).to.have.length(1);
    // the names of traces that are none are in the exemplars, and not in the alert
    expect(JSON.stringify(evidence)).to.not.include('script');
  });

  it('that watch are evaluated, shown as alerting rules, and left alone by a rule file of their group', async () => {
    const rule = await until('its state', () => ruleOf('Loads'), (one) => one['health'] === 'ok'); // prettier-ignore
    expect(rule).to.deep.include({ type: 'alerting', state: 'inactive', query: 'load', alerts: [], labels: {} });
    expect(rule).to.not.have.property('lastError');
  });

  it('that watch have a preview of what they would have fired, by the samples that are stored', async () => {
    const now = Math.floor(Date.now() / 60_000);
    // thirty hours, with a quarter of an hour at three times the level
    const valueAt = (ago: number): number => (10 + ((ago * 7919) % 13) / 13) * (ago <= 180 && ago > 165 ? 3 : 1);
    const lines = Array.from({ length: 1800 }, (_none, ago) => ['x', 'y'].map((shard) => `queue,shard=${shard} value=${String(shard === 'x' ? valueAt(ago) : 5)} ${String((now - ago) * 60_000)}`)); // prettier-ignore
    const sent = await fetch(`${instance.app}/write?precision=ms`, { method: 'POST', headers: own(), body: lines.flat().join('\n') });
    expect(sent.status).to.equal(204);
    const preview = async (body: object): Promise<{ readonly status: number; readonly body: unknown }> =>
      instance.call('POST', of('/metric-rules/preview'), body, own());
    type Shown = { readonly fired: number; readonly has_more_series: boolean; readonly series: readonly { readonly labels: object; readonly values: readonly number[]; readonly alerts: readonly { readonly fired_at: string; readonly side: string; readonly resolved_at: string }[] }[] }; // prettier-ignore
    const wanted = { watch: 'Queue', expr: 'queue', sensitivity: 'normal' };
    const shown = await until('what would have fired', async () => (await preview(wanted)).body as Shown, ({ fired }) => fired === 1); // prettier-ignore
    expect(shown.has_more_series).to.equal(false);
    expect(shown.series.map(({ labels }) => labels)).to.deep.equal([{ __name__: 'queue', shard: 'x' }, { __name__: 'queue', shard: 'y' }]); // prettier-ignore
    expect(shown.series[0]?.values).to.have.length(1440);
    const [alert] = shown.series[0]?.alerts ?? [];
    expect(alert?.side).to.equal('up');
    const minutesAgo = now - Date.parse(alert?.fired_at ?? '') / 60_000;
    expect(minutesAgo).to.be.within(160, 185);
    expect((await preview({ ...wanted, direction: 'down' })).body).to.include({ fired: 0 });
    for (const [body, status] of [
      [{ alert: 'A', expr: 'queue' }, 400],
      [{ watch: 'A', expr: 'rate(queue' }, 400],
      [{ watch: 'A', expr: 'queue', interval: '1m', direction: 'x' }, 400],
    ] as const)
      // prettier-ignore
      expect((await preview(body)).status, JSON.stringify(body)).to.equal(status);
  });

  it('by LogsQL are recorded as a series of each group', async () => {
    const found = await until('a record', () => series('log_errors:count1m[10m]'), (all) => all.length > 0, 240_000); // prettier-ignore
    expect(found.map(({ metric }) => metric)).to.deep.equal([{ __name__: 'log_errors:count1m', service: 'checkout' }]);
    const times = found[0]?.values.map(([time]) => time) ?? [];
    expect(times.every((time) => time % 60 === 0)).to.equal(true);
    expect(Number(found[0]?.values[0]?.[1])).to.be.above(0);
  });

  it('record each time once, and keep since when an alert is active, while the process that folds is killed', async () => {
    await until('a record', () => series('instance:load:max[5m]'), (all) => all.length === 2); // prettier-ignore
    const [before] = await series('ALERTS_FOR_STATE{alertname="HighLoad"}[5m]');
    for (let kills = 0; kills < 2; kills++) {
      const { pid = 0, restarts = 0 } = instance.processes().get('processors') ?? {};
      process.kill(pid, 'SIGKILL');
      await until('the next one', () => Promise.resolve(instance.processes().get('processors')), (next) => (next?.restarts ?? 0) > restarts && next?.pid !== pid); // prettier-ignore
    }
    const killed = Date.now() / 1000;
    const times = async (): Promise<readonly number[]> => (await series('instance:load:max{instance="a"}[10m]'))[0]?.values.map(([time]) => time) ?? []; // prettier-ignore
    const all = await until('records behind the kills', times, (found) => (found.at(-1) ?? 0) > killed + STEP, 240_000);
    const [first = 0] = all;
    expect(all).to.deep.equal(Array.from({ length: all.length }, (_none, index) => first + STEP * index));
    const [after] = await series('ALERTS_FOR_STATE{alertname="HighLoad"}[10m]');
    expect(new Set(after?.values.map(([, since]) => since))).to.deep.equal(new Set(before?.values.map(([, since]) => since)));
    load = 1;
    const ended = await until('its end', alerts, (found) => found.some(({ title, state }) => title.startsWith('Load of a') && state === 'resolved'), 240_000); // prettier-ignore
    expect(ended.filter(({ title }) => title.startsWith('Load of a'))).to.have.length(1);
    expect(await series('ALERTS{alertname="HighLoad"}')).to.deep.equal([]);
  });

  it('end what fires when the plan has no metrics any more, and go on when it has them again', async () => {
    const flag = (value: string): Promise<unknown> =>
      adminCommand(['tenant', 'set-flag', '--tenant', String(tenant.id), '--flag', 'metrics', '--value', value], instance.env, { out: () => undefined, err: () => undefined }); // prettier-ignore
    const slow = async (): Promise<readonly ShownAlert[]> => (await alerts()).filter(({ title }) => title.startsWith('SlowOrders'));
    expect(new Set((await slow()).map(({ state }) => state))).to.deep.equal(new Set(['firing']));
    await flag('off');
    const ended = await until('the end of what fires', slow, (all) => all.every(({ state }) => state === 'resolved'));
    expect(new Set(ended.map(({ resolution_note: note }) => note))).to.deep.equal(new Set(['auto: the plan has no metrics']));
    await flag('on');
    // as other alerts: later ones of the same rule
    await until('what fires again', slow, (all) => all.filter(({ state }) => state === 'firing').length === 2);
  });
});

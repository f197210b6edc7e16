import { expect } from 'chai';
import { pino } from 'pino';
import { AlertResolver } from '../../../../api/alerts/resolver.ts';
import { createAlertRoutes } from '../../../../api/alerts/routes.ts';
import { appEndpoint } from '../../../../api/http/endpoint.ts';
import type { Scope } from '../../../../api/tenants/principal.ts';
import type { ShownAlert } from '../../../../pipeline/alerting/book/shown-alert.ts';
import { alertRow, whyRow, type Alert } from '../../../../pipeline/alerting/book/alert.ts';
import type { Resolved } from '../../../../pipeline/alerting/book/command.ts';

type Resolution = Pick<Resolved, 'alert' | 'note'>;
import { formatTime } from '../../../../pipeline/core/time.ts';
import type { Store } from '../../../../pipeline/store/client.ts';
import { alertsSink } from '../../../../sinks/alerts.ts';
import { TableWriter } from '../../../../sinks/writer.ts';
import { alert, alertsRange, FIRED, NOW } from '../../../fakes/alerts-record.ts';
import { FakeKeyStore, fakePrincipal } from '../../../fakes/key-store.ts';
import { startHost } from '../../../fakes/test-host.ts';
import { LogsqlStore } from '../../logsql-store.ts';
import { runtimeOver } from '../../query-setup.ts';

type Page = { readonly items: readonly ShownAlert[]; readonly total: number; readonly limit: number; readonly offset: number; readonly has_more: boolean }; // prettier-ignore
type Answer = { readonly status: number; readonly json: Page & ShownAlert & { readonly detail?: string } };

const time = (seconds: number): string => formatTime(BigInt(seconds) * 1_000_000_000n);
/** Texts that would end a literal or a statement, or name a parameter, if they became text of it. */
const ATTACKS = ["' OR 1=1 --", "\\' OR tenant_id=2 --", '{p0:UInt32}', "'); DROP TABLE alerts; --", '/*', '\0', '`', 'é’', '%', '*'];
const HOUR = 3600;
const DAY = 24 * HOUR;

describe('GET /alerts', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  let owners: Store;
  let writer: TableWriter;
  let stop: () => Promise<void>;
  let offset = 100;
  const urls: string[] = [];
  const written: Resolution[] = [];
  let onWrite: (resolution: Resolution) => Promise<void> = () => Promise.resolve();

  /** Tells alerts, each in a record of its own. */
  async function tell(...alerts: readonly (readonly [Partial<Alert>, number])[]): Promise<void> {
    for (const [more, version] of alerts) await writer.store(alertsRange([alertRow(alert(more), version)], offset++), false);
  }

  before(async () => {
    own = await LogsqlStore.start();
    writer = new TableWriter({ sink: alertsSink, store: own.store, log: pino({ level: 'silent' }), mostRefused: 1, metrics: { stored: () => undefined } }); // prettier-ignore
    // the second one without the wall of the engine: what is seen there is what statements alone let through
    owners = own.withoutRowFilter();
    const keys = new FakeKeyStore({
      ...{ one: {}, two: { tenantId: 2 }, demo: { demo: true }, reader: { scopes: new Set<Scope>(['read']) } },
      ...{ short: { plan: { ...fakePrincipal().plan, retentionDays: 1 } }, ingest: { scopes: new Set<Scope>(['ingest']) } },
    });
    const resolver = new AlertResolver({ mostMs: 200, lookMs: 5, write: async (record) => {
      written.push(record);
      await onWrite(record);
    } }); // prettier-ignore
    const hosts = await Promise.all(
      [own.store, owners].map((store) =>
        startHost({
          keys,
          endpoints: createAlertRoutes(runtimeOver(store, { now: () => BigInt(NOW) * 1_000_000n }), resolver).map((route) =>
            appEndpoint(route),
          ),
        }),
      ),
    );
    urls.push(...hosts.map(({ url }) => url));
    stop = async () => {
      await Promise.all(hosts.map((host) => host.stop()));
      await owners.close();
    };
    const old = { firedAt: FIRED - 3 * DAY, updatedAt: FIRED - 3 * DAY };
    await tell(
      [{ id: 1 }, 10],
      // told again, out of order, and twice
      [{ id: 1, fireCount: 3, severity: 'critical', updatedAt: FIRED + 30, evidence: '{"z_score":20,"links":{"query":"*"}}' }, 30],
      [{ id: 1, fireCount: 3, severity: 'critical', updatedAt: FIRED + 30, evidence: '{"z_score":20,"links":{"query":"*"}}' }, 30],
      [{ id: 1, fireCount: 2 }, 20],
      [{ id: 2, detector: 'silence', stream: '{service="db"}', service: 'db', firedAt: FIRED - HOUR, incidentId: 77, severity: 'info' }, 5],
      [{ id: 3, ...old, state: 'resolved', resolvedAt: FIRED - HOUR, note: 'auto: back within baseline' }, 6],
      [{ id: 4, ...old, state: 'resolved', resolvedAt: FIRED - 2 * DAY }, 7],
      [{ id: 5, ...old, service: "o'neil", stream: '{service="o\'neil"}' }, 8],
      [{ id: 6, tenantId: 2, title: 'secret' }, 9],
      [{ id: 7, ...old, firedAt: FIRED - 20 * DAY, retentionDays: 0 }, 9],
    );
    await writer.store(alertsRange([whyRow(alertRow(alert({ id: 1 }), 30), { why: [{ field: 'pod' }] }, 'most are `x <N>`', 'It is the pod.')], offset++), false); // prettier-ignore
  });
  after(async () => {
    await stop();
    await own.stop();
  });

  async function call(
    path: string,
    {
      key = 'one',
      tenant = 1,
      url = urls[0],
      method = 'GET',
      body,
      what = 'alerts',
    }: { what?: string; key?: string; tenant?: number; url?: string | undefined; method?: string; body?: unknown } = {},
  ): Promise<Answer> {
    // prettier-ignore
    const response = await fetch(`${String(url)}/api/v1/tenants/${String(tenant)}/${what}${path}`, {
      method,
      headers: { Authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: response.status, json: (await response.json()) as Answer['json'] };
  }
  const ids = async (parameters: Readonly<Record<string, string>>, more: Parameters<typeof call>[1] = {}): Promise<number[]> =>
    (await call(`?${new URLSearchParams(parameters).toString()}`, more)).json.items.map(({ id }) => id);

  it('gives the last word on each alert, with why it has come, newest first', async () => {
    const { json } = await call('');
    expect(json).to.include({ total: 5, limit: 100, offset: 0, has_more: false });
    expect(json.items.map(({ id }) => id)).to.deep.equal([1, 2, 5, 3, 7]);
    expect(json.items[0]).to.deep.equal({
      ...{
        id: 1,
        detector_type: 'log_rate',
        stream: '{service="web"}',
        severity: 'critical',
        title: 'Entries of web rose; most are `x <N>`',
      },
      ...{
        description: 'é It is the pod.',
        evidence: { z_score: 20, links: { query: '*' }, why: [{ field: 'pod' }] },
        state: 'firing',
        fired_at: time(FIRED),
      },
      ...{ fire_count: 3, resolved_at: null, last_updated_at: time(FIRED + 30), resolution_note: null, incident_id: null },
    });
    expect(json.items[1]?.incident_id).to.equal(77);
    expect(json.items[3]).to.include({ state: 'resolved', resolved_at: time(FIRED - HOUR), resolution_note: 'auto: back within baseline' });
  });

  it('narrows down by state, severity, detector, service and time', async () => {
    const cases: readonly (readonly [Readonly<Record<string, string>>, readonly number[]])[] = [
      [{ state: 'all' }, [1, 2, 5, 4, 3, 7]],
      [{ state: 'firing' }, [1, 2, 5, 7]],
      [{ state: 'resolved' }, [4, 3]],
      [{ severity: 'critical' }, [1]],
      [{ severity: 'warning', state: 'all' }, [5, 4, 3, 7]],
      [{ severity: 'all' }, [1, 2, 5, 3, 7]],
      [{ detector_type: 'silence' }, [2]],
      [{ service: "o'neil" }, [5]],
      [{ service: 'we' }, []],
      [{ since: '-2h' }, [1, 2]],
      [{ since: '-10d' }, [1, 2, 5, 4, 3]],
      [{ until: time(FIRED - HOUR) }, [2, 5, 4, 3, 7]],
      [{ until: time(FIRED - HOUR - 1), since: time(FIRED - 3 * DAY) }, [5, 4, 3]],
      [{ since: '2262-04-01T00:00:00Z' }, []],
      [{ until: '1900-01-01T00:00:00Z' }, []],
    ];
    for (const [parameters, found] of cases) expect((await ids(parameters)).sort(), JSON.stringify(parameters)).to.deep.equal([...found].sort()); // prettier-ignore
  });

  it('pages by limit and offset', async () => {
    const all = await ids({ state: 'all' });
    const pages: number[] = [];
    for (let from = 0; ; from += 2) {
      const { json } = await call(`?state=all&limit=2&offset=${String(from)}`);
      expect(json).to.include({ total: 6, limit: 2, offset: from, has_more: from + 2 < 6 });
      pages.push(...json.items.map(({ id }) => id));
      if (!json.has_more) break;
    }
    expect(pages).to.deep.equal(all);
    expect((await call('?state=all&offset=50')).json).to.include({ total: 6, has_more: false });
  });

  it('refuses what is no parameter of it', async () => {
    for (const wrong of [
      'state=open',
      'severity=high',
      'limit=0',
      'limit=2001',
      'limit=x',
      'offset=-1',
      'since=yesterday',
      'until=9e30',
      `service=${'x'.repeat(513)}`,
    ])
      // prettier-ignore
      expect((await call(`?${wrong}`)).status, wrong).to.equal(400);
    for (const id of ['0', '-1', 'x', '1.5', '9007199254740993', '1e3', '%27']) expect((await call(`/${id}`)).status, id).to.equal(400);
  });

  it('shows a tenant its own alone, whatever is asked for, and with the wall of the engine gone too', async () => {
    for (const url of urls) {
      expect(await ids({ state: 'all' }, { key: 'two', tenant: 2, url })).to.deep.equal([6]);
      expect((await call('/6', { url })).status).to.equal(404);
      expect((await call('/99', { url })).json.detail).to.equal('There is no alert 99.');
      expect((await call('/6', { url, tenant: 2 })).status).to.equal(403);
      for (const attack of ATTACKS) {
        for (const name of ['service', 'detector_type'])
          expect(await ids({ [name]: attack, state: 'all' }, { url }), `${name} ${attack}`).to.deep.equal([]);
        for (const name of ['state', 'severity', 'since', 'until', 'limit', 'offset'])
          expect((await call(`?${name}=${encodeURIComponent(attack)}`, { url })).status, `${name} ${attack}`).to.equal(400);
      }
    }
  });

  it('shows nothing that the plan does not keep any more', async () => {
    expect(await ids({ state: 'all' }, { key: 'short' })).to.deep.equal([1, 2]);
    expect((await call('/3', { key: 'short' })).status).to.equal(404);
  });

  it('resolves one alert with a note, for those who may', async () => {
    expect((await call('/1', { key: 'ingest' })).status).to.equal(403);
    for (const [key, status] of [
      ['reader', 403],
      ['demo', 403],
      ['nobody', 403],
    ] as const)
      // prettier-ignore
      expect((await call('/1/resolve', { key, method: 'POST' })).status, key).to.equal(status);
    for (const id of [6, 99]) expect((await call(`/${String(id)}/resolve`, { method: 'POST' })).status).to.equal(404);
    for (const body of ['[]', '"x"', '{', { note: 5 }, { note: 'x'.repeat(4097) }])
      expect((await call('/1/resolve', { method: 'POST', body })).status, JSON.stringify(body)).to.equal(400);
    expect(written).to.deep.equal([]);
    expect((await call('/1/resolve', { method: 'POST' })).status, 'nobody takes it').to.equal(503);
    onWrite = () => tell([{ id: 1, fireCount: 3, state: 'resolved', resolvedAt: FIRED + 50, note: 'it was me' }, 40]);
    const { status, json } = await call('/1/resolve', { method: 'POST', body: { note: 'it was me' } });
    expect([status, json.state, json.resolution_note, json.resolved_at]).to.deep.equal([200, 'resolved', 'it was me', time(FIRED + 50)]);
    expect((await call('/1')).json).to.deep.equal(json);
    expect((await call('/1/resolve', { method: 'POST', body: { note: 'again' } })).json.resolution_note).to.equal('it was me');
    expect(written).to.have.length(2);
  });

  it('lists what fired together as incidents, with their alerts, to those whose they are', async () => {
    const shop = { service: 'shop', stream: '{service="shop"}', incidentId: 900 };
    await tell(
      [{ id: 20, ...shop, severity: 'critical' }, 50],
      [{ id: 21, ...shop, firedAt: FIRED - 100, state: 'resolved', resolvedAt: FIRED }, 51],
      [
        { id: 22, ...shop, firedAt: FIRED - 3 * DAY, incidentId: 901, state: 'resolved', resolvedAt: FIRED - 2 * DAY, severity: 'info' },
        52,
      ],
      [{ id: 23, ...shop, tenantId: 2 }, 53],
      // told again: the last word counts
      [{ id: 21, ...shop, firedAt: FIRED - 100, fireCount: 2 }, 49],
    );
    type Incident = { readonly id: number; readonly alerts: readonly ShownAlert[] };
    const list = async (
      parameters: Readonly<Record<string, string>>,
      more: Parameters<typeof call>[1] = {},
    ): Promise<readonly Incident[]> =>
      // prettier-ignore
      (await call(`?${new URLSearchParams(parameters).toString()}`, { what: 'incidents', ...more })).json.items as unknown as Incident[];
    const idsOf = async (...given: Parameters<typeof list>): Promise<number[]> => (await list(...given)).map(({ id }) => id);
    const [first] = await list({ service: 'shop' });
    const { alerts: members, ...rest } = first as Incident;
    expect(rest).to.deep.equal({
      ...{ id: 900, service: 'shop', state: 'firing', severity: 'critical', started_at: time(FIRED - 100), ended_at: null },
      ...{ last_updated_at: time(FIRED), alert_count: 2 },
    });
    expect(members.map(({ id, state }) => [id, state])).to.deep.equal([[20, 'firing'], [21, 'resolved']]); // prettier-ignore
    const cases: readonly (readonly [Readonly<Record<string, string>>, readonly number[]])[] = [
      [{}, [900, 77]],
      [{ state: 'all' }, [900, 77, 901]],
      [{ state: 'resolved' }, [901]],
      [{ since: '-2d' }, [900, 77]],
      [{ until: time(FIRED - 2 * DAY) }, [901]],
      [{ state: 'all', limit: '1', offset: '1' }, [77]],
      [{ service: "'" }, []],
    ];
    for (const [parameters, found] of cases) expect(await idsOf(parameters), JSON.stringify(parameters)).to.deep.equal(found);
    for (const url of urls) {
      expect(await idsOf({ state: 'all' }, { url, key: 'two', tenant: 2 })).to.deep.equal([900]);
      expect((await list({}, { url, key: 'two', tenant: 2 })).flatMap(({ alerts }) => alerts.map(({ id }) => id))).to.deep.equal([23]);
      for (const attack of ATTACKS) expect(await idsOf({ service: attack }, { url })).to.deep.equal([]);
    }
    expect((await call('/901', { what: 'incidents' })).json).to.include({ id: 901, state: 'resolved', ended_at: time(FIRED - 2 * DAY) });
    expect((await call('/901', { what: 'incidents', key: 'two', tenant: 2 })).json.detail).to.equal('There is no incident 901.');
    expect((await call('/x', { what: 'incidents' })).json.detail).to.contain('The id of an incident is a positive integer');
    for (const wrong of ['limit=101', 'state=open', 'offset=-1', 'since=x'])
      expect((await call(`?${wrong}`, { what: 'incidents' })).status, wrong).to.equal(400);
    expect((await call('', { what: 'incidents', key: 'ingest' })).status).to.equal(403);
  });

  it('ends pages of large alerts at 8 MiB, and shows them all', async () => {
    const evidence = JSON.stringify({ text: 'x'.repeat(65_000) });
    const large = Array.from({ length: 300 }, (_none, index) => ({ id: 1000 + index, tenantId: 2, incidentId: 950, service: 'large', firedAt: FIRED - index, evidence })); // prettier-ignore
    for (const one of large) await tell([one, 60]);
    const found: number[] = [];
    const sizes: number[] = [];
    for (let json: Page | null = null; json === null || json.has_more;) {
      json = (await call(`?service=large&limit=2000&offset=${String(found.length)}`, { key: 'two', tenant: 2 })).json;
      expect(json).to.include({ total: 300, offset: found.length });
      sizes.push(json.items.length);
      found.push(...json.items.map(({ id }) => id));
    }
    expect(found).to.deep.equal(large.map(({ id }) => id));
    expect(sizes.slice(0, 2)).to.deep.equal([129, 129]);
    const { json } = await call('/950', { what: 'incidents', key: 'two', tenant: 2 });
    expect((json as unknown as { alert_count: number; alerts: unknown[] }).alert_count).to.equal(300);
    expect((json as unknown as { alerts: unknown[] }).alerts.length).to.equal(129);
  });
});

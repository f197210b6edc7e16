import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { usageCommand } from '../../../cli/usage.ts';
import { until, type Instance } from '../instance.ts';
import { newTenant, sharedInstance } from '../shared.ts';

type Row = Readonly<Record<string, unknown>>;
type Usage = {
  readonly day: string;
  readonly days: readonly {
    readonly day: string;
    readonly bytes: number;
    readonly signals: Readonly<Record<string, number>>;
    readonly cost: number;
    readonly over_bytes: number;
  }[];
  readonly keys: readonly Row[];
  readonly services: readonly Row[] | null;
  readonly refused: readonly Row[];
  readonly limits: readonly {
    readonly name: string;
    readonly used: number | null;
    readonly limit: number | null;
    readonly clears_at: string | null;
  }[];
};

/** What a tenant is told of its use is of the log and of all processes, and of no one else. */
describe('the usage of a tenant', function () {
  this.timeout(600_000);
  let instance: Instance;
  let tenant: { readonly id: number; readonly key: string };
  const usage = async (key: string, id: number, query = ''): Promise<{ readonly status: number; readonly body: Usage }> =>
    (await instance.call('GET', `${instance.app}/api/v1/tenants/${String(id)}/usage${query}`, undefined, {
      Authorization: `Bearer ${key}`,
    })) as never;
  const send = (key: string, body: string): Promise<{ readonly status: number }> =>
    instance.call('POST', `${instance.ingest}/api/v1/ingest`, body, { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' });
  const admin = (method: string, at: string, body: object): Promise<{ readonly status: number; readonly body: unknown }> => {
    const token = readFileSync(path.join(instance.dataDir, 'admin.token'), 'utf8').trim();
    return instance.call(method, `${instance.admin}/admin${at}`, body, { Authorization: `Bearer ${token}` });
  };
  const day = (): string => new Date().toISOString().slice(0, 10);

  before(async () => {
    instance = await sharedInstance();
    const made = (await admin('POST', '/tenants', { name: 'usage', plan: 'custom' })).body as { tenant_id: number; key: string };
    tenant = { id: made.tenant_id, key: made.key };
    for (const [flag, value] of [
      ['daily_bytes', 100],
      ['ceiling_bytes', 250],
    ] as const)
      expect((await admin('PUT', `/tenants/${String(tenant.id)}/flags/${flag}`, { value })).status, flag).to.be.below(300);
  });

  it('has bytes by day and signal with their price, keys, services, refusals with their reasons, and limits', async () => {
    const created = await instance.call('POST', `${instance.app}/api/v1/tenants/${String(tenant.id)}/keys`, { name: 'shipper', scopes: ['ingest'] }, { Authorization: `Bearer ${tenant.key}` }); // prettier-ignore
    const shipper = created.body as { id: string; key: string };
    const one = JSON.stringify([
      { _msg: 'a', service: 'web' },
      { _msg: 'b', service: 'web' },
      { _msg: 'late', _time: 'whenever' },
    ]);
    const two = JSON.stringify({ _msg: 'c'.repeat(200), service: 'cart' });
    expect((await send(shipper.key, one)).status).to.equal(200);
    expect((await send(tenant.key, two)).status).to.equal(200);
    const beyond = await send(tenant.key, '{"_msg":"beyond the ceiling"}');
    expect(beyond.status).to.equal(429);
    const bytes = one.length + two.length;
    const { body } = await until(
      'all that was sent',
      () => usage(tenant.key, tenant.id),
      ({ body: { keys, refused, services } }) => keys.length === 2 && refused.length === 2 && services?.length === 2,
    );
    const [today] = body.days;
    expect(today).to.deep.include({ bytes, signals: { ...today?.signals, logs: bytes }, over_bytes: bytes - 100 });
    expect(today?.cost).to.be.closeTo(((bytes - 100) / 1e9) * 0.2, 1e-12);
    expect(body.days.map(({ bytes: known }) => known)).to.deep.equal([bytes, 0, 0]);
    expect(body.keys).to.deep.include({ key_id: shipper.id, name: 'shipper', signal: 'logs', bytes: one.length, entries: 2, requests: 1 });
    expect(body.services).to.deep.equal([{ service: 'web', entries: 2 }, { service: 'cart', entries: 1 }]); // prettier-ignore
    expect(body.refused.find(({ status }) => status === 429)).to.include({ signal: 'logs', error: 'rate_limited', requests: 1 }).and.have.property('reason').that.matches(/ceiling.*00:00 UTC/); // prettier-ignore
    expect(body.refused.find(({ status }) => status === 200)).to.deep.include({ signal: 'logs', error: 'time_unreadable', entries: 1 });
    const volume = body.limits.find(({ name }) => name === 'daily_volume');
    expect(volume).to.include({ used: bytes, limit: 250 });
    expect(Date.parse(volume?.clears_at ?? '') % 86_400_000).to.equal(0);
    expect(body.limits.find(({ name }) => name === 'keys')?.used).to.equal(2);
    const usedOf = async (name: string): Promise<number | null | undefined> =>
      (await usage(tenant.key, tenant.id)).body.limits.find((one) => one.name === name)?.used;
    await until('the streams', () => usedOf('streams_per_day'), (count) => count === 2); // prettier-ignore
    expect(await usedOf('series_per_day')).to.equal(0);
    // those of the requests before may still be leaving their worker
    await until('that no query runs', () => usedOf('queries_at_once'), (count) => count === 0); // prettier-ignore
    let printed = '';
    const to = { out: (part: string) => (printed += part), err: (part: string) => (printed += part) };
    const env = { ...instance.env, LOGWEIR_TENANT: String(tenant.id), LOGWEIR_API_KEY: tenant.key };
    expect(await usageCommand([], env, to)).to.equal(0);
    expect(printed).to.include('shipper').and.include('time_unreadable').and.include('daily_volume');
  });

  it('is of the tenant alone, and of no project', async () => {
    const other = await newTenant(instance);
    const { body } = await usage(other.key, other.id);
    expect([body.keys, body.services, body.refused, body.days.map(({ bytes }) => bytes)]).to.deep.equal([[], [], [], [0, 0, 0]]);
    expect((await usage(other.key, tenant.id)).status).to.equal(403);
    const project = await instance.call(
      'POST',
      `${instance.app}/api/v1/account/projects`,
      { name: 'p' },
      { Authorization: `Bearer ${other.key}` },
    );
    const narrowed = await instance.call('POST', `${instance.app}/api/v1/tenants/${String(other.id)}/keys`, { scopes: ['read'], project: (project.body as { id: string }).id }, { Authorization: `Bearer ${other.key}` }); // prettier-ignore
    expect((await usage((narrowed.body as { key: string }).key, other.id)).status).to.equal(403);
  });

  it('counts the queries of the key that asks and the tails that are open', async () => {
    const other = await newTenant(instance);
    const usedOf = async (name: string): Promise<number | null | undefined> =>
      (await usage(other.key, other.id)).body.limits.find((one) => one.name === name)?.used;
    const before = await usedOf('query_rate');
    const asked = await instance.call('GET', `${instance.app}/api/v1/tenants/${String(other.id)}/hits?step=5m`, undefined, { Authorization: `Bearer ${other.key}` }); // prettier-ignore
    expect(asked.status).to.equal(200);
    if (before !== null) expect(await usedOf('query_rate')).to.equal(1);
    // the process that answers takes none of these entries: it knows of them from the one that does
    const sendMore = async (): Promise<number | null | undefined> => {
      expect((await send(other.key, '[{"_msg":"a"},{"_msg":"b"}]')).status).to.equal(200);
      return usedOf('ingest_rate');
    };
    const runningAmong = async (): Promise<number | null | undefined> => {
      const url = `${instance.app}/api/v1/tenants/${String(other.id)}/facets?query=*`;
      const queries = Array.from({ length: 10 }, () => instance.call('GET', url, undefined, { Authorization: `Bearer ${other.key}` }));
      const used = await usedOf('queries_at_once');
      await Promise.all(queries);
      return used;
    };
    await until('a query that runs', runningAmong, (count) => (count ?? 0) > 0);
    await until('the rate of entries', sendMore, (rate) => (rate ?? 0) > 0);
    expect(await usedOf('live_tails')).to.equal(0);
    const closing = new AbortController();
    const tail = await fetch(`${instance.app}/api/v1/tenants/${String(other.id)}/tail`, { headers: { Authorization: `Bearer ${other.key}` }, signal: closing.signal }); // prettier-ignore
    expect(tail.status).to.equal(200);
    expect(await usedOf('live_tails')).to.equal(1);
    closing.abort();
    await until('that the tail has ended', () => usedOf('live_tails'), (count) => count === 0); // prettier-ignore
  });

  it('knows three days, and nothing else is a day', async () => {
    const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    expect((await usage(tenant.key, tenant.id, `?day=${yesterday}`)).body).to.deep.include({ day: yesterday, keys: [], services: [] });
    for (const bad of ['', 'today', '2020-01-01', '9999-99-99', "2026-01-01' OR 1=1 --", '__proto__', `${day()}%00`, '1'.repeat(10_000)])
      expect((await usage(tenant.key, tenant.id, `?day=${bad}`)).status, bad.slice(0, 40)).to.equal(400);
    const { body } = await usage(tenant.key, tenant.id, '?day=nonsense');
    expect((body as unknown as { detail: string }).detail).to.equal('"day" must be a UTC day such as 2026-11-21.');
  });
});

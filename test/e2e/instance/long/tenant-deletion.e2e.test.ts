import { expect } from 'chai';
import { askClickHouse } from '../../engine.ts';
import { until, type Instance } from '../../instance.ts';
import { newTenant, runCli, sharedInstance } from '../../shared.ts';

type Tenant = Awaited<ReturnType<typeof newTenant>>;
type Certificate = {
  readonly state: string;
  readonly rows: Readonly<Record<string, number>>;
  readonly records: Readonly<Record<string, number>>;
};

describe('a tenant that an operator deletes', function () {
  this.timeout(600_000);
  let instance: Instance;
  let gone: Tenant;
  let kept: Tenant;

  const authorized = ({ key }: Tenant): Record<string, string> => ({ Authorization: `Bearer ${key}` });
  const api = ({ id }: Tenant): string => `${instance.app}/api/v1/tenants/${String(id)}`;
  const admin = async (...argv: string[]): Promise<{ readonly code: number; readonly stderr: string; readonly answer: unknown }> => {
    const { stdout, stderr, code } = await runCli(instance, kept, ['admin', ...argv, '--json']);
    return { code, stderr, answer: stdout === '' ? null : (JSON.parse(stdout) as unknown) };
  };
  const send = async (tenant: Tenant, path: string, body: unknown): Promise<number> =>
    (await instance.call('POST', `${instance.ingest}${path}`, body, authorized(tenant))).status;
  /** How many rows each table with tenants has of one. */
  async function rowsOf({ id }: Tenant): Promise<Record<string, number>> {
    const found: Record<string, number> = {};
    for (const [table = ''] of await askClickHouse(
      instance,
      "SELECT table FROM system.columns WHERE database = currentDatabase() AND name = 'tenant_id'",
    )) {
      const [[count = '0'] = []] = await askClickHouse(instance, `SELECT count() FROM ${table} WHERE tenant_id = ${String(id)}`);
      if (count !== '0') found[table] = Number(count);
    }
    return found;
  }
  /** Something of each signal. */
  async function fill(tenant: Tenant): Promise<void> {
    const now = Date.now();
    const nanos = `${String(now)}000000`;
    expect(
      await send(tenant, '/api/v1/ingest', [
        { _msg: 'of this tenant 1', service: 'web' },
        { _msg: 'of this tenant 2', service: 'web' },
      ]),
    ).to.be.below(300);
    const span = {
      traceId: 'a'.repeat(32),
      spanId: 'b'.repeat(16),
      name: 'GET /',
      kind: 2,
      startTimeUnixNano: nanos,
      endTimeUnixNano: nanos,
    };
    expect(await send(tenant, '/v1/traces', { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] })).to.equal(200);
    const metric = { name: 'jobs', gauge: { dataPoints: [{ timeUnixNano: nanos, asDouble: 1 }] } };
    expect(await send(tenant, '/v1/metrics', { resourceMetrics: [{ scopeMetrics: [{ metrics: [metric] }] }] })).to.equal(200);
    const event = { type: 4, timestamp: now, data: { href: 'https://shop.example/' } };
    expect(await send(tenant, '/v1/rum/replay', { session_id: 's', seq: 0, events: [event] })).to.equal(202);
    await until('rows of each signal', () => rowsOf(tenant), (rows) => ['logs', 'spans', 'samples', 'replay_chunks'].every((table) => rows[table] !== undefined)); // prettier-ignore
  }

  before(async () => {
    instance = await sharedInstance();
    gone = await newTenant(instance);
    kept = await newTenant(instance);
    await Promise.all([fill(gone), fill(kept)]);
    for (const tenant of [gone, kept]) {
      const hook = { url: 'https://hook.example/secret', form: 'json' };
      expect((await instance.call('POST', `${api(tenant)}/webhooks`, hook, authorized(tenant))).status).to.equal(201);
    }
  });

  it('is not deleted by a wrong name, and none by its own key', async () => {
    const of = ['--tenant', String(gone.id)];
    expect(await admin('tenant', 'delete', ...of, '--name', 'another')).to.deep.include({ code: 2, answer: null });
    expect((await admin('tenant', 'deletion', ...of)).stderr).to.include('is not deleted');
    const own = await instance.call('DELETE', `${instance.admin}/admin/tenants/${String(gone.id)}`, { name: 'x' }, authorized(gone));
    expect(own.status).to.equal(403);
    expect((await instance.call('POST', `${api(gone)}/search`, { query: '*', start: '-1h' }, authorized(gone))).status).to.equal(200);
  });

  it('has no key any more, no row in any table, and a certificate; another tenant has all of its own', async () => {
    const before = await rowsOf(kept);
    const name = (((await admin('tenant', 'list')).answer as { tenant_id: number; name: string }[]).find(({ tenant_id: id }) => id === gone.id) as { name: string }).name; // prettier-ignore
    const deleted = await admin('tenant', 'delete', '--tenant', String(gone.id), '--name', name);
    expect(deleted.stderr).to.equal('');
    expect((deleted.answer as Certificate).records).to.deep.equal({ tenant: 1, key: 1, webhook: 1 });
    expect((await instance.call('POST', `${api(gone)}/search`, { query: '*', start: '-1h' }, authorized(gone))).status).to.equal(403);
    expect(await send(gone, '/api/v1/ingest', [{ _msg: 'late' }])).to.equal(403);
    const certificate = async (): Promise<Certificate> =>
      (await admin('tenant', 'deletion', '--tenant', String(gone.id))).answer as Certificate;
    const { rows } = await until('the end of the deletion', certificate, ({ state }) => state === 'deleted');
    expect(rows).to.include({ logs: 2, spans: 1, samples: 1, replay_chunks: 1 });
    // what processors had counted may still come
    await until('no row of the tenant', () => rowsOf(gone), (left) => Object.keys(left).length === 0); // prettier-ignore
    const after = await rowsOf(kept);
    for (const table of ['logs', 'spans', 'samples', 'replay_chunks']) expect(after[table], table).to.equal(before[table]);
    expect((await instance.call('GET', `${api(kept)}/webhooks`, undefined, authorized(kept))).body).to.include({ total: 1 });
  });

  it('leaves an audit that finds nothing lost', async () => {
    for (const topic of ['logs', 'spans', 'samples', 'replay', 'counters']) {
      const { stdout, stderr, code } = await runCli(instance, kept, ['audit', '--topic', `${topic}.v1`, '--json', '--from', '-1h']);
      expect(code, `${topic}: ${stderr} ${stdout.slice(0, 2000)}`).to.equal(0);
    }
  });

  it('is rid of rows that come late, and they are counted', async () => {
    await askClickHouse(instance, `INSERT INTO logs (tenant_id, _time, _msg) VALUES (${String(gone.id)}, now64(9), 'of a backup')`);
    const counted = async (): Promise<number> =>
      ((await admin('tenant', 'deletion', '--tenant', String(gone.id))).answer as Certificate).rows['logs'] ?? 0;
    await until('that it is counted', counted, (rows) => rows === 3);
    expect(await rowsOf(gone)).to.not.have.property('logs');
  });
});

import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { until, type Instance } from '../instance.ts';
import { newTenant, runCli, sharedInstance } from '../shared.ts';

type Session = Readonly<Record<string, unknown>> & { readonly session_id: string };
type Event = { readonly type: number; readonly timestamp: number };

describe('session replay', function () {
  this.timeout(300_000);
  let instance: Instance;
  let tenant: { readonly id: number; readonly key: string };
  const began = Date.now() - 60_000;

  before(async () => {
    instance = await sharedInstance();
    tenant = await newTenant(instance);
  });

  const own = (): Record<string, string> => ({ Authorization: `Bearer ${tenant.key}` });
  const url = (rest = ''): string => `${instance.app}/api/v1/tenants/${String(tenant.id)}/replay/sessions${rest}`;
  const event = (after: number, type = 3, data: object = {}): object => ({ type, data, timestamp: began + after });
  async function send(host: string, body: object): Promise<void> {
    const response = await fetch(`${host}/v1/rum/replay`, {
      method: 'POST',
      headers: { ...own(), 'Content-Encoding': 'gzip' },
      body: new Uint8Array(gzipSync(JSON.stringify(body))),
    });
    expect([response.status, await response.json()]).to.deep.equal([202, { status: 'ok' }]);
  }
  const get = (rest: string): Promise<{ status: number; body: unknown }> => instance.call('GET', url(rest), undefined, own());
  const sessionOf = (id: string): Promise<Session> =>
    until(`the session ${id}`, () => get(`/${id}`), ({ status }) => status === 200).then(({ body }) => body as Session); // prettier-ignore

  it('is taken on both hosts, read as a session and as events, each batch once', async () => {
    const id = randomUUID();
    const first = { session_id: id, seq: 0, user: 'ada', events: [event(0, 4, { href: 'https://shop.example/' }), event(1, 2), event(2)] };
    await send(instance.ingest, first);
    await send(instance.app, { session_id: id, seq: 1, user: 'ada', events: [event(3000), event(4000)] });
    await send(instance.app, first);
    await until('all events', () => get(`/${id}`), ({ body }) => (body as Session)['events'] === 5); // prettier-ignore
    expect(await sessionOf(id)).to.include({ user: 'ada', url: 'https://shop.example/', duration_ms: 4000 });
    const { body } = await get(`/${id}/events`);
    const lines = String(body).trim().split('\n').map((line) => JSON.parse(line) as Event); // prettier-ignore
    expect(lines.map(({ timestamp }) => timestamp - began)).to.deep.equal([0, 1, 2, 3000, 4000]);
    const listed = (await get('?user=ada&start=-1h')).body as { readonly sessions: readonly Session[] };
    expect(listed.sessions.map(({ session_id: one }) => one)).to.deep.equal([id]);
    const usage = await until('its bytes', () => usageOf(), (bytes) => bytes > 0); // prettier-ignore
    expect(usage).to.be.greaterThan(100);
  });

  /** What the tenant was billed for today. */
  async function usageOf(): Promise<number> {
    const token = readFileSync(path.join(instance.dataDir, 'admin.token'), 'utf8').trim();
    const at = `${instance.admin}/admin/tenants/${String(tenant.id)}/usage`;
    const { body } = await instance.call('GET', at, undefined, { Authorization: `Bearer ${token}` });
    return Math.max(0, ...[...JSON.stringify(body).matchAll(/"replay":(\d+)/g)].map(([, bytes]) => Number(bytes)));
  }

  it('is listed, exported and deleted by the command line, and the deletion is audited', async () => {
    const id = `cli-${randomUUID()}`;
    await send(instance.app, {
      session_id: id,
      events: [event(0, 4, { href: 'https://shop.example/x' }), event(1, 2), event(5000, 5, { tag: 'error' })],
    });
    await sessionOf(id);
    const listed = await runCli(instance, tenant, ['replay', 'list', '--errors', '--start', '-1h', '--output', 'lines']);
    expect(listed.code, listed.stderr).to.equal(0);
    expect(listed.stdout).to.match(new RegExp(`5s ${id} https://shop.example/x 3 events 1 errors`));
    const exported = await runCli(instance, tenant, ['replay', 'export', id]);
    expect(exported.stdout.trim().split('\n')).to.have.length(3);
    expect((await runCli(instance, tenant, ['replay', 'export', 'none'])).code).to.equal(1);
    expect((await runCli(instance, tenant, ['replay', 'export'])).code).to.equal(2);
    const deleted = await runCli(instance, tenant, ['replay', 'delete', id]);
    expect(deleted.code, deleted.stderr).to.equal(0);
    await until('that it is in no answer', () => get(`/${id}/events`), ({ status }) => status === 404); // prettier-ignore
    const log = await runCli(instance, tenant, ['admin', 'audit-log', '--json']);
    const changes = JSON.parse(log.stdout) as readonly Readonly<Record<string, unknown>>[];
    const change = changes.find(({ details }) => (details as { readonly session?: string }).session === id);
    expect(change).to.include({ action: 'replay delete', tenant_id: tenant.id, state: 'done' });
    // a recorder that does not know it goes on
    await send(instance.app, { session_id: id, seq: 7, events: [event(9000)] });
    await send(instance.app, { session_id: `${id}-after`, events: [event(9000)] });
    await sessionOf(`${id}-after`);
    expect((await get(`/${id}`)).status).to.equal(404);
  });

  it('is deleted though it is acknowledged but not stored yet', async () => {
    const id = `now-${randomUUID()}`;
    await send(instance.app, { session_id: id, events: [event(0, 4, { href: 'https://shop.example/x' }), event(1, 2)] });
    const own = { Authorization: `Bearer ${tenant.key}` };
    const { status } = await instance.call('DELETE', `${instance.app}/api/v1/tenants/${String(tenant.id)}/replay/sessions/${id}`, undefined, own); // prettier-ignore
    expect(status).to.equal(202);
    await until('that it is in no answer', () => get(`/${id}`), ({ status: shown }) => shown === 404); // prettier-ignore
  });

  it('has errors of pages become patterns, whose entries name their sessions', async () => {
    const sessions = [randomUUID(), randomUUID()];
    const entries = sessions.map((session, index) => ({
      ...{
        level: 'error',
        message: `TypeError: cart ${String(index)} is not a function`,
        rum: 'error',
        service: 'page',
        session_id: session,
      },
    }));
    expect((await instance.call('POST', `${instance.ingest}/api/v1/ingest`, entries, own())).status).to.equal(200);
    type Search = { readonly logs: readonly Readonly<Record<string, unknown>>[] };
    const { body } = await until(
      'the entries',
      () => instance.call('POST', `${instance.app}/api/v1/tenants/${String(tenant.id)}/search`, { query: 'rum:error' }, own()),
      ({ body: found }) => (found as Search).logs.length === 2,
    );
    const { logs } = body as Search;
    expect(logs.map((log) => log['session_id'])).to.have.members(sessions);
    expect(new Set(logs.map((log) => log['fingerprint'] ?? log['pattern'])).size).to.equal(1);
  });
});

import { expect } from 'chai';
import { pino } from 'pino';
import { AdminAudit, type AuditChange, type AuditLine } from '../../../api/admin/admin-audit.ts';
import { adminRoutes } from '../../../api/admin/admin-routes.ts';
import { auditRoute } from '../../../api/admin/audit-route.ts';
import { Peers } from '../../../api/admin/peers.ts';
import { adminCommand } from '../../../cli/admin.ts';
import { bootstrapTenant } from '../../../api/control/accounts.ts';
import type { ControlStore } from '../../../api/control/control-store.ts';
import { notFound } from '../../../pipeline/core/errors.ts';
import { FakeControlTopic } from '../../fakes/control-log.ts';
import { controlNode } from '../../fakes/control-node.ts';
import { TOKEN, listen, type Listener } from '../../fakes/internal-listener.ts';
import { FakeHistory } from '../../fakes/record-history.ts';

const LOG = pino({ level: 'silent' });
const CHANGE: AuditChange = { action: 'key create', actor: { client: 'a test' }, requestId: 'r', tenant: 7, details: {} };
const ALL = { tenant: null, since: 0, limit: 100 };

describe('the audit log of administration', () => {
  let history: FakeHistory;
  let audit: AdminAudit;
  beforeEach(() => {
    history = new FakeHistory();
    audit = new AdminAudit(history, LOG, () => 1_800_000_000_000);
  });
  const states = async (): Promise<unknown[]> =>
    ((await audit.read(ALL)) as AuditLine[]).map(({ action, state, tenant, key, reason }) => [action, state, tenant, key, reason]);
  const thrown = (made: Promise<unknown>): Promise<unknown> => made.then(() => null, (error: unknown) => (error as Error).message); // prettier-ignore

  it('has a line before the change, which then says what became of it', async () => {
    await audit.around(
      CHANGE,
      async () => {
        expect(await states()).to.deep.equal([['key create', 'begun', 7, undefined, undefined]]);
      },
      () => ({ key: 'k1' }),
    );
    expect(await states()).to.deep.equal([['key create', 'done', 7, 'k1', undefined]]);
    history.compact();
    expect([history.records.length, await states()]).to.deep.equal([1, [['key create', 'done', 7, 'k1', undefined]]]);
  });

  it('says what was refused, and what failed, without telling more than the client was told', async () => {
    const refused = audit.around(CHANGE, () => Promise.reject(notFound('There is no tenant 7.')), () => ({})); // prettier-ignore
    expect(await thrown(refused)).to.equal('There is no tenant 7.');
    const failed = audit.around(CHANGE, () => Promise.reject(new Error('password hunter2')), () => ({})); // prettier-ignore
    expect(await thrown(failed)).to.equal('password hunter2');
    expect((await states()).map((line) => (line as unknown[]).slice(1))).to.deep.equal([
      ['failed', 7, undefined, 'It failed unexpectedly.'],
      ['refused', 7, undefined, 'There is no tenant 7.'],
    ]);
  });

  it('lets nothing be changed that cannot be written down, and acknowledges nothing whose end cannot', async () => {
    let made = 0;
    const change = (): Promise<unknown> => audit.around(CHANGE, () => Promise.resolve((made += 1)), () => ({})); // prettier-ignore
    history.refused.add(1).add(3);
    expect([await thrown(change()), made]).to.deep.equal(['The audit log cannot be written, so nothing was changed; retry later.', 0]);
    expect(await states()).to.deep.equal([]);
    expect([await thrown(change()), made]).to.deep.equal(['The change was made, but the audit log could not be completed.', 1]);
    expect(await states()).to.deep.equal([['key create', 'begun', 7, undefined, undefined]]);
  });

  it('is read newest first, by tenant, since a time, up to a limit; what is not a line is passed over', async () => {
    for (let tenant = 1; tenant <= 4; tenant++) await audit.around({ ...CHANGE, tenant }, () => Promise.resolve(), () => ({})); // prettier-ignore
    for (const value of ['', 'null', '{', '[]', '{"id":"x","action":1}', '{"id":"other","action":"a","time":"t","state":"done"}'])
      await history.append('x', value);
    const tenants = async (query: Partial<typeof ALL> | { readonly tenant: number }): Promise<unknown> => {
      const lines = await audit.read({ ...ALL, ...query });
      return lines === false ? false : lines.map(({ tenant }) => tenant);
    };
    expect(await tenants({})).to.deep.equal([4, 3, 2, 1]);
    expect(await tenants({ limit: 2 })).to.deep.equal([4, 3]);
    expect(await tenants({ tenant: 2 })).to.deep.equal([2]);
    expect(await tenants({ since: 5 })).to.deep.equal([4, 3]);
    let now = 0;
    expect(await new AdminAudit(history, LOG, () => (now += 10_000)).read(ALL)).to.equal(false);
  });

  it('has the changes of the setup', async () => {
    const { store } = await controlNode(new FakeControlTopic());
    const setUp = (secret: string): Promise<void> =>
      bootstrapTenant(store, secret, (change, make) => audit.around({ ...change, actor: {}, details: {} }, make, () => ({})));
    await setUp('lw_first-secret-of-all');
    await setUp('lw_first-secret-of-all');
    await setUp('lw_second-secret-of-all');
    expect((await states()).map((line) => (line as unknown[]).slice(0, 4))).to.deep.equal([
      ['key rotate', 'done', 1, 'bootstrap'],
      ['key create', 'done', 1, 'bootstrap'],
      ['tenant create', 'done', 1, undefined],
    ]);
    await store.stop();
  });
});

describe('the admin routes and their audit log', () => {
  const history = new FakeHistory();
  let store: ControlStore;
  let app: Listener;
  before(async () => {
    store = (await controlNode(new FakeControlTopic())).store;
    const audit = new AdminAudit(history, LOG);
    const peers = new Peers('127.0.0.1', TOKEN);
    app = await listen('app', { control: store, audit, adminRoutes: [...adminRoutes(store, peers), auditRoute(audit)] });
  });
  after(() => store.stop());
  beforeEach(() => (history.records = []));

  const cli = async (...argv: string[]): Promise<{ code: number; out: string; err: string }> => {
    let [out, err] = ['', ''];
    const env = { LOGWEIR_ADMIN_PORT: new URL(app.url).port, LOGWEIR_ADMIN_TOKEN: TOKEN };
    const code = await adminCommand(argv, env, { out: (text) => (out += text), err: (text) => (err += text) });
    return { code, out, err };
  };
  const lines = async (...argv: string[]): Promise<Record<string, unknown>[]> =>
    JSON.parse((await cli('audit-log', '--json', '--newest-first', ...argv)).out) as Record<string, unknown>[];

  it('every route that changes something has a name there', () => {
    const routes = adminRoutes(store, new Peers('127.0.0.1', TOKEN)).filter(({ method }) => method !== 'GET');
    expect(routes.filter(({ action = '' }) => action === '')).to.deep.equal([]);
    expect(new Set(routes.map(({ action }) => action)).size).to.equal(routes.length);
  });

  it('each change leaves a line: who, what, on which tenant and key, and never a secret', async () => {
    const { tenant_id: tenant, key: secret } = JSON.parse(
      (await cli('tenant', 'create', '--name', 'acme', '--plan', 'team', '--json')).out,
    ) as {
      tenant_id: number;
      key: string;
    };
    const of = ['--tenant', String(tenant)];
    const { id, key } = JSON.parse((await cli('key', 'create', ...of, '--scopes', 'read,ingest', '--json')).out) as {
      id: string;
      key: string;
    };
    const rotated = JSON.parse((await cli('key', 'rotate', ...of, '--id', id, '--json')).out) as { key: string };
    for (const argv of [
      ['key', 'revoke', ...of, '--id', id],
      ['tenant', 'set-plan', ...of, '--plan', 'growth'],
      ['tenant', 'set-flag', ...of, '--flag', 'demo', '--value', 'on'],
      ['tenant', 'disable', ...of],
      ['tenant', 'enable', ...of],
      ['tenant', 'add-payment', ...of],
      ['sweep'],
    ])
      expect((await cli(...argv)).code, argv.join(' ')).to.equal(0);
    const all = await lines();
    expect(all.map(({ action, state, tenant_id, key_id, details }) => [action, state, tenant_id, key_id, details])).to.deep.equal([
      ['sweep', 'done', null, null, {}],
      ['tenant add-payment', 'done', tenant, null, {}],
      ['tenant enable', 'done', tenant, null, {}],
      ['tenant disable', 'done', tenant, null, {}],
      ['tenant set-flag', 'done', tenant, null, { flag: 'demo', value: 'on' }],
      ['tenant set-plan', 'done', tenant, null, { plan: 'growth' }],
      ['key revoke', 'done', tenant, id, {}],
      ['key rotate', 'done', tenant, id, {}],
      ['key create', 'done', tenant, id, { scopes: ['read', 'ingest'] }],
      ['tenant create', 'done', tenant, null, { name: 'acme', plan: 'team' }],
    ]);
    for (const line of all) {
      expect(line['client']).to.match(/^logweir cli, \S+@\S+$/);
      expect([line['address'], String(line['token'])]).to.satisfy(([from, token]: string[]) => /127\.0\.0\.1$/.test(from ?? '') && /^[0-9a-f]{8}$/.test(token ?? '')); // prettier-ignore
      expect(line['request_id']).to.be.a('string');
    }
    const written = JSON.stringify(history.records);
    for (const hidden of [secret, key, rotated.key, TOKEN, store.key(id)?.hash ?? 'none']) expect(written).to.not.include(hidden);
    expect((await lines('--tenant', String(tenant), '--limit', '2')).map(({ action }) => action)).to.deep.equal([
      'tenant add-payment',
      'tenant enable',
    ]);
    const table = (await cli('audit-log', '--timezone', 'Asia/Tokyo')).out;
    // the newest is the last one, and times have the zone's offset
    expect(table).to.match(/^TIME +STATE +ACTION.*\n\S+\+09:00 +done +tenant create [^]*\n\S+\+09:00 +done +sweep .*\n$/);
  });

  it('reads leave none, and what is refused is told as refused', async () => {
    expect((await cli('tenant', 'list')).code).to.equal(0);
    expect((await cli('tenant', 'disable', '--tenant', '999')).code).to.equal(1);
    expect((await cli('tenant', 'create', '--name', 'x', '--plan', 'nope')).code).to.equal(2);
    const response = await fetch(`${app.url}/admin/tenants`, {
      method: 'POST',
      body: `{"name":"${'n'.repeat(1000)}","secret":"hush","plan":{"a":1}`,
      headers: { Authorization: `Bearer ${TOKEN}`, 'X-Logweir-Client': 'c'.repeat(500) },
    });
    expect(response.status).to.equal(400);
    expect((await fetch(`${app.url}/admin/tenants`, { method: 'POST', headers: { Authorization: 'Bearer wrong' } })).status).to.equal(403);
    expect((await lines()).map(({ state, action, reason }) => [state, action, typeof reason])).to.deep.equal([
      ['refused', 'tenant create', 'string'],
      ['refused', 'tenant create', 'string'],
      ['refused', 'tenant disable', 'string'],
    ]);
    expect(String((await lines())[0]?.['client'])).to.have.length(200);
    expect(JSON.stringify(history.records)).to.not.include('hush');
  });

  it('nothing is changed while it cannot be written', async () => {
    const before = store.tenants().length;
    const down = new FakeHistory();
    down.refused.add(1);
    const audit = new AdminAudit(down, LOG);
    const other = await listen('app', { control: store, audit, adminRoutes: adminRoutes(store, new Peers('127.0.0.1', TOKEN)) });
    const ask = (): Promise<Response> =>
      fetch(`${other.url}/admin/tenants`, { method: 'POST', body: '{"name":"x"}', headers: { Authorization: `Bearer ${TOKEN}` } });
    const answer = await ask();
    expect([answer.status, answer.headers.get('retry-after'), store.tenants().length]).to.deep.equal([503, '5', before]);
    expect((await ask()).status).to.equal(201);
  });

  for (const query of ['tenant=0', 'tenant=x', 'since=soon', 'limit=0', 'limit=10001', 'limit=', 'since='])
    it(`a wrong parameter is a 400: ${query}`, async () => {
      const response = await fetch(`${app.url}/admin/audit-log?${query}`, { headers: { Authorization: `Bearer ${TOKEN}` } });
      expect([response.status, ((await response.json()) as { detail: string }).detail]).to.satisfy(
        ([status, detail]: [number, string]) => status === 400 && detail.includes(query.split('=')[0] ?? ''),
      );
    });
});

import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adminRoutes } from '../../../api/admin/admin-routes.ts';
import { Peers } from '../../../api/admin/peers.ts';
import type { ControlStore } from '../../../api/control/control-store.ts';
import { adminCommand } from '../../../cli/admin.ts';
import { FakeControlTopic } from '../../fakes/control-log.ts';
import { controlNode } from '../../fakes/control-node.ts';
import { TOKEN, get, listen, type Listener } from '../../fakes/internal-listener.ts';

describe('the admin routes', () => {
  let app: Listener;
  let store: ControlStore;
  let ingestStore: ControlStore;
  before(async () => {
    const topic = new FakeControlTopic();
    store = (await controlNode(topic)).store;
    ingestStore = (await controlNode(topic)).store;
    const peers = new Peers('127.0.0.1', TOKEN);
    const ingest = await listen('ingest', { control: ingestStore });
    peers.set([{ role: 'ingest', pid: -1, port: ingest.server.port }]);
    app = await listen('app', { peers, control: store, adminRoutes: adminRoutes(store, peers) });
  });

  async function ask(
    method: string,
    path: string,
    body?: unknown,
    token: string | null = TOKEN,
  ): Promise<{ status: number; json: Record<string, unknown> }> {
    const response = await fetch(app.url + path, {
      method,
      headers: token === null ? {} : { authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  }

  it('need the token', async () => {
    for (const [token, status] of [
      [null, 401],
      ['wrong', 403],
      ['', 401],
      [`${TOKEN}x`, 403],
    ] as const) {
      for (const [method, path] of [
        ['GET', '/admin/tenants'],
        ['POST', '/admin/tenants'],
        ['GET', '/admin/control/1'],
      ] as const) {
        const answer = await ask(method, path, undefined, token);
        expect(answer.status).to.equal(status);
        expect(answer.json).to.have.all.keys('detail', 'request_id');
      }
    }
    const open = await listen('no token', { token: '', control: store });
    expect((await get(`${open.url}/admin/control/1`, { authorization: 'Bearer x' })).status).to.equal(403);
    expect((await get(`${app.url}/admin/nothing`)).status).to.equal(404);
    expect((await ask('PATCH', '/admin/tenants')).status).to.equal(405);
  });

  it('a created tenant can be used in every process once the answer is there', async () => {
    const { status, json } = await ask('POST', '/admin/tenants', { name: 'acme', plan: 'growth' });
    expect(status).to.equal(201);
    expect(json).to.have.all.keys('tenant_id', 'key');
    expect(ingestStore.find(json['key'] as string)?.principal).to.include({ tenantId: json['tenant_id'] });
    const list = await ask('GET', '/admin/tenants');
    expect(list.json).to.have.lengthOf(1);
    expect((list.json as unknown as object[])[0]).to.deep.include({
      tenant_id: 1,
      name: 'acme',
      plan: 'growth',
      disabled: false,
      limits: { entries_per_second: 2000, daily_bytes: 135e9, ceiling_bytes: 1350e9, queries_per_minute: 3000, retention_days: 30 },
    });
  });

  it('keys: create, list, rotate, revoke', async () => {
    const created = await ask('POST', '/admin/tenants/1/keys', { scopes: ['read', 'ingest'], expires: '2030-01-01' });
    expect(created.status).to.equal(201);
    expect(created.json).to.have.all.keys('id', 'key', 'tenant_id', 'scopes');
    expect(created.json).to.deep.include({ tenant_id: 1, scopes: ['read', 'ingest'] });
    const id = String(created.json['id']);
    const listed = (await ask('GET', '/admin/tenants/1/keys')).json as unknown as Record<string, unknown>[];
    expect(listed.find((key) => key['id'] === id)).to.deep.include({
      tenant_id: 1,
      scopes: ['read', 'ingest'],
      expires_at: '2030-01-01T00:00:00.000Z',
    });
    expect(JSON.stringify(listed)).not.to.contain('hash').and.not.to.contain(created.json['key']);
    const rotated = await ask('POST', `/admin/tenants/1/keys/${id}/rotate`);
    expect(rotated.json).to.include({ id });
    expect(ingestStore.find(created.json['key'] as string)).to.equal(null);
    expect(ingestStore.find(rotated.json['key'] as string)?.principal.keyId).to.equal(id);
    expect((await ask('DELETE', `/admin/tenants/1/keys/${id}`)).status).to.equal(200);
    expect(ingestStore.find(rotated.json['key'] as string)).to.equal(null);
    const read = await ask('POST', '/admin/tenants/1/keys');
    expect(read.json['scopes']).to.deep.equal(['read']);
  });

  const bad: readonly (readonly [string, string, unknown, number])[] = [
    ['POST', '/admin/tenants', undefined, 400],
    ['POST', '/admin/tenants', '{', 400],
    ['POST', '/admin/tenants', [], 400],
    ['POST', '/admin/tenants', { plan: 'team' }, 400],
    ['POST', '/admin/tenants', { name: '', plan: 'team' }, 400],
    ['POST', '/admin/tenants', { name: 'x', plan: 'golden' }, 400],
    ['POST', '/admin/tenants', { name: 'x', plan: 'team', id: 7 }, 400],
    ['POST', '/admin/tenants', { name: 'x', signup: 'yesterday' }, 400],
    ['POST', '/admin/tenants', { name: 'x', signup: '2999-01-01T00:00:00Z' }, 400],
    ['POST', '/admin/tenants', { name: 'x', signup: '1969-12-31T00:00:00Z' }, 400],
    ['POST', '/admin/tenants/0/disable', undefined, 400],
    ['POST', '/admin/tenants/abc/disable', undefined, 400],
    ['POST', '/admin/tenants/99/disable', undefined, 404],
    ['GET', '/admin/tenants/99/keys', undefined, 404],
    ['POST', '/admin/tenants/1/keys', { scopes: ['root'] }, 400],
    ['POST', '/admin/tenants/1/keys', { scopes: [] }, 400],
    ['POST', '/admin/tenants/1/keys', { expires: 'tomorrow' }, 400],
    ['PUT', '/admin/tenants/1/plan', { plan: 7 }, 400],
    ['PUT', '/admin/tenants/1/flags/nothing', { value: 'on' }, 400],
    ['PUT', '/admin/tenants/1/flags/demo', {}, 400],
    ['DELETE', '/admin/tenants/1/keys/none', undefined, 404],
  ];
  for (const [method, path, body, status] of bad) {
    it(`${method} ${path} ${body === undefined ? '' : JSON.stringify(body)}: ${status}`, async () => {
      const answer = await ask(method, path, body);
      expect(answer.status, JSON.stringify(answer.json)).to.equal(status);
      expect(answer.json).to.have.all.keys('detail', 'request_id');
    });
  }

  describe('the CLI', () => {
    let directory = '';
    before(() => {
      directory = mkdtempSync(join(tmpdir(), 'logweir-cli-'));
    });
    after(() => rmSync(directory, { recursive: true }));

    async function run(
      line: string,
      env: Record<string, string> = {},
    ): Promise<{ code: number; out: string; err: string; json: () => unknown }> {
      let [out, err] = ['', ''];
      const code = await adminCommand(
        line === '' ? [] : line.split(' '),
        { LOGWEIR_ADMIN_PORT: String(app.server.port), LOGWEIR_ADMIN_TOKEN: TOKEN, ...env },
        {
          out: (text) => {
            out += text;
          },
          err: (text) => {
            err += text;
          },
        },
      );
      return { code, out, err, json: () => JSON.parse(out) as unknown };
    }

    it('tenant create prints the id and a key of all scopes', async () => {
      const { code, out } = await run('tenant create --name web --plan enterprise --json');
      expect(code).to.equal(0);
      expect(out).to.match(/^\{"tenant_id":\d+,"key":"lw_[\w-]{43}"\}\n$/);
    });
    it('every other command', async () => {
      const tenant = ((await run('tenant create --name all --plan trial --json')).json() as { tenant_id: number }).tenant_id;
      const lines: readonly (readonly [string, Record<string, unknown>])[] = [
        ['tenant disable', { disabled: true }],
        ['tenant enable', { disabled: false }],
        ['tenant add-payment', { plan: 'team', payment: true }],
        ['tenant set-plan --plan custom', { plan: 'custom' }],
        ['tenant set-flag --flag entries_per_second --value 10', { flags: { entries_per_second: 10 } }],
        ['tenant set-flag --flag entries_per_second --value default', { flags: {} }],
        ['tenant set-flag --flag shards --value 4', { flags: { shards: 4 } }],
      ];
      for (const [line, expected] of lines) {
        const { code, json, err } = await run(`${line} --tenant ${tenant} --json`);
        expect(code, `${line}: ${err}`).to.equal(0);
        expect(json()).to.deep.include({ tenant_id: tenant, ...expected });
      }
      expect(((await run('tenant list --json')).json() as { tenant_id: number }[]).some((row) => row.tenant_id === tenant)).to.equal(true);
      const key = (await run(`key create --tenant ${tenant} --scopes read,ingest --expires 2030-01-01T00:00:00Z --json`)).json() as {
        id: string;
        key: string;
      };
      expect(Object.keys(key)).to.deep.equal(['id', 'key', 'tenant_id', 'scopes']);
      expect((await run(`key list --tenant ${tenant} --json`)).json()).to.have.lengthOf(2);
      expect(((await run(`key rotate --tenant ${tenant} --id ${key.id} --json`)).json() as { key: string }).key).not.to.equal(key.key);
      expect((await run(`key revoke --tenant ${tenant} --id ${key.id}`)).code).to.equal(0);
      expect((await run(`key list --tenant ${tenant} --json`)).json()).to.have.lengthOf(1);
      expect(((await run(`key create --tenant ${tenant} --json`)).json() as { scopes: string[] }).scopes).to.deep.equal(['read']);
    });
    it('sweep moves an account that was imported after its trial, and lists it once', async () => {
      const imported = (await run('tenant create --name imported --signup 2026-01-05T10:00:00+02:00 --json')).json() as {
        tenant_id: number;
      };
      const [moved, ...others] = (await run('sweep --json')).json() as Record<string, unknown>[];
      expect(others).to.deep.equal([]);
      expect(moved).to.deep.include({
        tenant_id: imported.tenant_id,
        plan: 'trial_expired',
        signup_at: '2026-01-05T08:00:00.000Z',
        ceilings: { users: 3, keys: 2, live_tails: 2, dashboards: 25, saved_searches: 50 },
      });
      expect((await run('sweep --json')).json()).to.deep.equal([]);
      expect((await run(`tenant add-payment --tenant ${imported.tenant_id} --json`)).json()).to.deep.include({
        plan: 'team',
        ceilings: { users: null, keys: null, live_tails: 100, dashboards: null, saved_searches: null },
      });
    });
    it('a table for people', async () => {
      const { out } = await run('tenant list');
      const lines = out.trimEnd().split('\n');
      expect(lines[0]).to.match(/^TENANT_ID\s+NAME\s+PLAN\s+DISABLED/);
      expect(lines[1]).to.match(/^1\s+acme\s+growth\s+false/);
    });
    it('a name cannot move the cursor', async () => {
      await adminCommand(
        ['tenant', 'create', '--name', 'a\u001b[2Jb', '--plan', 'team'],
        { LOGWEIR_ADMIN_PORT: String(app.server.port), LOGWEIR_ADMIN_TOKEN: TOKEN },
        { out: () => undefined, err: () => undefined },
      );
      expect((await run('tenant list')).out).to.contain('a\\u001b[2Jb');
    });

    const usage: readonly (readonly [string, RegExp])[] = [
      ['', /^$/],
      ['tenant', /no command "admin tenant"/],
      ['tenant destroy', /no command/],
      ['tenant create --plan team', /--name is missing/],
      ['tenant create --name x --plan team --color red', /--color/],
      ['tenant disable --tenant abc', /--tenant is an integer/],
      ['tenant disable', /--tenant is missing/],
      ['key rotate --tenant 1', /--id is missing/],
      ['tenant list extra', /extra/],
      ['sweep now', /now/],
      ['sweep --tenant 1', /--tenant/],
    ];
    for (const [line, message] of usage) {
      it(`"${line}": exit code 2`, async () => {
        const { code, err } = await run(line);
        expect(code).to.equal(2);
        expect(err).to.match(message);
      });
    }
    it('what the service refuses as wrong is exit code 2', async () => {
      const { code, out, err } = await run('tenant create --name x --plan golden', {});
      expect({ code, out }).to.deep.equal({ code: 2, out: '' });
      expect(err).to.match(/^No plan is named "golden"; .*\.\n$/);
    });
    it('failures are one sentence and exit code 1', async () => {
      const rows: readonly (readonly [string, Record<string, string>, RegExp])[] = [
        ['tenant disable --tenant 999', {}, /^There is no tenant 999\.\n$/],
        ['tenant list', { LOGWEIR_ADMIN_TOKEN: 'wrong' }, /^The admin token is wrong\.\n$/],
        ['tenant list', { LOGWEIR_ADMIN_PORT: '1' }, /^No service answers on 127\.0\.0\.1:1; .*\n$/],
        ['tenant list', { LOGWEIR_ADMIN_TOKEN: '', LOGWEIR_DATA_DIR: '/nowhere' }, /^No admin token: .*\n$/],
      ];
      for (const [line, env, message] of rows) {
        const { code, out, err } = await run(line, env);
        expect(code).to.equal(1);
        expect(out).to.equal('');
        expect(err).to.match(message);
      }
    });
    it('reads the token from the data directory', async () => {
      writeFileSync(join(directory, 'admin.token'), `${TOKEN}\n`);
      expect(
        (await run('tenant list --json', { LOGWEIR_ADMIN_TOKEN: '', LOGWEIR_DATA_DIR: directory, LOGWEIR_ADMIN_HOST: '0.0.0.0' })).code,
      ).to.equal(0);
    });
    it('--help', async () => {
      const { code, out } = await run('--help');
      expect(code).to.equal(0);
      for (const command of [
        'tenant create --name NAME [--plan PLAN] [--signup SIGNUP] [--timezone TIMEZONE] [--json]',
        'admin sweep [--timezone TIMEZONE] [--json]',
        'key create --tenant TENANT [--scopes SCOPES] [--expires EXPIRES] [--timezone TIMEZONE] [--json]',
      ])
        expect(out).to.contain(command);
    });
  });
});

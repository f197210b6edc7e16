import { expect } from 'chai';
import { once } from 'node:events';
import WebSocket from 'ws';
import { sessionEndpoints } from '../../../api/account/session-endpoints.ts';
import { sessionCodeRoute } from '../../../api/admin/session-codes.ts';
import { SessionTokens } from '../../../api/auth/session-token.ts';
import type { Sessions } from '../../../api/auth/sessions.ts';
import { rateLimited } from '../../../pipeline/core/errors.ts';
import { addPayment, createKey, createTenant, revokeKey, rotateKey, setDisabled, setFlag } from '../../../api/control/accounts.ts';
import type { ControlStore } from '../../../api/control/control-store.ts';
import { MAX_CODES } from '../../../api/control/bounds.ts';
import type { Endpoint } from '../../../api/http/endpoint.ts';
import { LiveTails } from '../../../api/limits/live-tails.ts';
import { LiveSockets } from '../../../api/live/sockets/live-sockets.ts';
import { FakeControlTopic } from '../../fakes/control-log.ts';
import { controlNode, PEPPER } from '../../fakes/control-node.ts';
import { eventually } from '../../fakes/eventually.ts';
import { startHost } from '../../fakes/test-host.ts';

type Node = { readonly url: string; readonly store: ControlStore; readonly stop: () => Promise<void> };

const echo = (methods: string[], path: string, access: Endpoint['access']): Endpoint => ({
  ...{ methods, path, errors: 'query', access },
  handle: ({ principal }) => Promise.resolve({ status: 200, body: { key: principal.keyId } }),
});

/** What counts changes of tenants. */
let admitChange: (tenantId: number) => void = () => undefined;

async function startNode(topic: FakeControlTopic): Promise<Node> {
  const { store } = await controlNode(topic);
  const sessions: Sessions = { tokens: new SessionTokens(PEPPER), store };
  const sockets = new LiveSockets({ keys: store, sessions }, [
    { path: '/ws/livetail/{tenant_id}', tails: new LiveTails(), open: () => undefined },
  ]);
  const host = await startHost({
    keys: store,
    sessions,
    onUpgrade: sockets.onUpgrade,
    endpoints: [
      ...sessionEndpoints({ control: store, sessions, settled: () => Promise.resolve(), admitChange: (tenantId) => admitChange(tenantId) }),
      ...sockets.endpoints,
      echo(['GET'], '/api/v1/tenants/{tenant_id}/thing', { plane: 'app', scope: 'read' }),
      echo(['POST', 'PUT', 'DELETE'], '/api/v1/tenants/{tenant_id}/thing', { plane: 'app', scope: 'write' }),
      echo(['POST'], '/api/v1/ingest', { plane: 'ingest', scope: 'ingest' }),
      echo(['POST'], '/v1/metrics', { plane: 'app', scope: 'ingest' }),
    ],
  });
  return {
    url: host.url,
    store,
    stop: async () => {
      await sockets.stop();
      await host.stop();
      await store.stop();
    },
  };
}

type Answer = { readonly status: number; readonly body: Record<string, unknown>; readonly cookie: string; readonly setCookie: string };

async function send(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, init);
  const text = await response.text();
  const setCookie = response.headers.get('set-cookie') ?? '';
  return {
    status: response.status,
    body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
    setCookie,
    cookie: setCookie.split(';', 1)[0] ?? '',
  };
}

const json = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json', ...headers },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

/** Asks again until the answer is what it should be. */
async function becomes<T>(probe: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  const deadline = performance.now() + 45_000;
  for (;;) {
    const value = await probe();
    if (holds(value)) return value;
    if (performance.now() > deadline) throw new Error(`It did not come; last: ${JSON.stringify(value)}`);
  }
}

describe('browser sessions', () => {
  let topic: FakeControlTopic;
  let one: Node;
  let two: Node;
  let key: { readonly id: string; readonly secret: string };
  beforeEach(async () => {
    topic = new FakeControlTopic();
    [one, two] = await Promise.all([startNode(topic), startNode(topic)]);
    await createTenant(one.store, 'a', 'team');
    await createTenant(one.store, 'b', 'team');
    const { record, secret } = await createKey(one.store, 1, ['read', 'write', 'ingest'], null);
    key = { id: record.id, secret };
    await eventually('the key on both', () => two.store.key(key.id)?.id, (id) => id === key.id); // prettier-ignore
  });
  afterEach(() => Promise.all([one.stop(), two.stop()]));

  const begin = (node = one, headers = {}): Promise<Answer> => send(`${node.url}/api/v1/session`, json({ key: key.secret }, headers));
  const who = (node: Node, cookie: string): Promise<Answer> => send(`${node.url}/api/v1/session`, { headers: { cookie } });

  it('the path of the key answers a cookie alike, and neither sends data', async () => {
    const { cookie } = await begin();
    const byKey = await send(`${one.url}/api/v1/account/key`, { headers: { cookie } });
    const { plan: name, ...rest } = (await who(one, cookie)).body;
    const { plan, ...shown } = byKey.body;
    expect(shown).to.deep.equal(rest);
    expect((plan as { name: string }).name).to.equal(name);
    expect(shown['scopes']).to.deep.equal(['read', 'write']);
    expect(shown['session']).to.have.keys('started_at', 'expires_at');
  });

  it('begin with a key in the body or a header, and hold on every node', async () => {
    const begun = await begin();
    expect(begun.status).to.equal(200);
    expect(begun.setCookie).to.match(/^logweir_session_[0-9a-f]{8}=v1\.[\w.-]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/);
    expect(begun.setCookie).not.to.contain(key.secret);
    expect((await begin(one, { 'X-Forwarded-Proto': 'https' })).setCookie).to.match(/; SameSite=Strict; Secure$/);
    const shown = await who(two, begun.cookie);
    expect(shown.status).to.equal(200);
    expect(shown.body).to.include({ tenant_id: 1, key_id: key.id, plan: 'team', demo: false, project: null });
    expect(shown.body['scopes']).to.deep.equal(['read', 'write']);
    expect(shown.body).to.deep.equal(begun.body);
    const byHeader = await send(`${one.url}/api/v1/session`, { method: 'POST', headers: { authorization: `Bearer ${key.secret}` } });
    expect((await who(two, byHeader.cookie)).status).to.equal(200);
    const withKey = await send(`${one.url}/api/v1/session`, { headers: { 'x-api-key': key.secret } });
    expect(withKey.body).to.include({ session: null, key_id: key.id });
  });
  it('begin with nothing else', async () => {
    const reader = await createKey(one.store, 1, ['ingest'], null);
    const short = await createKey(one.store, 1, ['read'], new Date(Date.now() - 1000).toISOString());
    const cases: readonly (readonly [string, RequestInit, number])[] = [
      ['no key', { method: 'POST' }, 401],
      ['an unknown key', json({ key: 'lw_x' }), 403],
      ['a key that may only send', json({ key: reader.secret }), 403],
      ['an expired key', json({ key: short.secret }), 403],
      ['both', json({ key: key.secret, code: 'x' }), 400],
      ['another member', json({ key: key.secret, tenant: 2 }), 400],
      ['__proto__', json('{"__proto__":{"key":"x"}}'), 401],
      ['a key that is no string', json({ key: { $ne: '' } }), 400],
      ['a long key', json({ key: 'x'.repeat(600) }), 400],
      ['deep JSON', json('['.repeat(5000)), 400],
      ['another type', { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: JSON.stringify({ key: key.secret }) }, 400],
      ['a page of another site', json({ key: key.secret }, { origin: 'http://evil.example' }), 403],
      ['a form of another site', json({ key: key.secret }, { 'sec-fetch-site': 'cross-site' }), 403],
      ['a code that is none', json({ code: "lc_1_' OR 1=1 --" }), 403],
      ['a code of no tenant', json({ code: `lc_99_${'a'.repeat(32)}` }), 403],
    ];
    for (const [name, init, status] of cases) {
      const answer = await send(`${one.url}/api/v1/session`, init);
      expect(answer.status, `${name}: ${JSON.stringify(answer.body)}`).to.equal(status);
      expect(answer.setCookie, name).to.equal('');
    }
  });

  describe('are taken by origin, method, cookie and header', () => {
    const cookies = ['none', 'good', 'forged'] as const;
    const origins = [
      ['none', {}],
      ['own', { origin: 'OWN' }],
      ['own page', { origin: 'OWN', 'sec-fetch-site': 'same-origin' }],
      ['own fetch', { 'sec-fetch-site': 'same-origin' }],
      ['typed', { 'sec-fetch-site': 'none' }],
      ['other', { origin: 'http://evil.example', 'sec-fetch-site': 'cross-site' }],
      ['sibling', { origin: 'http://127.0.0.1:1', 'sec-fetch-site': 'same-site' }],
      ['null', { origin: 'null' }],
    ] as const;
    for (const method of ['GET', 'POST', 'PUT', 'DELETE'])
      for (const cookie of cookies)
        for (const [from, headers] of origins)
          for (const withKey of [false, true]) {
            const isOwn = from.startsWith('own');
            const isGood = isOwn || (method === 'GET' && (from === 'none' || from === 'typed'));
            const expected = withKey ? 200 : cookie !== 'good' ? 401 : isGood ? 200 : 403;
            it(`${method}, cookie ${cookie}, from ${from}${withKey ? ', with a key' : ''}: ${String(expected)}`, async () => {
              const good = (await begin()).cookie;
              const value = { none: '', good: `a=b; ${good}; c="d"`, forged: `${good.slice(0, -1)}${good.endsWith('A') ? 'B' : 'A'}` }[
                cookie
              ];
              const sent = Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, text === 'OWN' ? two.url : text]));
              const answer = await send(`${two.url}/api/v1/tenants/1/thing`, {
                method,
                headers: { ...sent, ...(value === '' ? {} : { cookie: value }), ...(withKey ? { 'x-api-key': key.secret } : {}) },
              });
              expect(answer.status, JSON.stringify(answer.body)).to.equal(expected);
            });
          }
  });
  it('a key that is wrong is not helped by a cookie, nor is the tenant of another', async () => {
    const { cookie } = await begin();
    const ask = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
      send(`${one.url}${path}`, { headers: { cookie, ...headers } });
    expect((await ask('/api/v1/tenants/1/thing', { authorization: 'Bearer wrong' })).status).to.equal(403);
    expect((await ask('/api/v1/tenants/2/thing')).status).to.equal(403);
    expect((await ask('/api/v1/tenants/1/thing')).status).to.equal(200);
  });
  it('never send data, on either plane', async () => {
    const { cookie } = await begin();
    for (const path of ['/api/v1/ingest', '/v1/metrics']) {
      const answer = await send(one.url + path, { method: 'POST', headers: { cookie, origin: one.url } });
      expect(answer.status, path).to.equal(401);
      expect(answer.body['detail']).to.match(/No API key was found/);
    }
  });
  it('end with their key on every node: revoked, rotated, its tenant disabled', async () => {
    const cookie = (await begin()).cookie;
    const statusOf = async (): Promise<number> => (await who(two, cookie)).status;
    expect(await statusOf()).to.equal(200);
    await setDisabled(one.store, 1, true);
    await becomes(statusOf, (status) => status === 403);
    await setDisabled(one.store, 1, false);
    await becomes(statusOf, (status) => status === 200);
    await rotateKey(one.store, 1, key.id);
    await becomes(statusOf, (status) => status === 401);
    expect((await who(two, cookie)).body['detail']).to.equal('The session has ended; sign in again.');
    const again = await createKey(one.store, 1, ['read'], null);
    const later = await send(`${one.url}/api/v1/session`, json({ key: again.secret }));
    const began = performance.now();
    await revokeKey(one.store, 1, again.record.id);
    await becomes(async () => (await who(two, later.cookie)).status, (status) => status === 401); // prettier-ignore
    expect(performance.now() - began).to.be.below(1000);
  });
  it('end with the time of their key: 401 Token expired', async () => {
    const short = await createKey(one.store, 1, ['read'], new Date(Date.now() + 400).toISOString());
    const { cookie, setCookie } = await send(`${one.url}/api/v1/session`, json({ key: short.secret }));
    expect(setCookie).to.contain('Max-Age=1;');
    const over = await becomes(() => who(two, cookie), ({ status }) => status === 401); // prettier-ignore
    expect(over.body['detail']).to.equal('Token expired');
  });
  it('sign out: on every node, and only this session', async () => {
    const [first, second] = [(await begin()).cookie, (await begin()).cookie];
    const out = (headers: Record<string, string>): Promise<Answer> => send(`${one.url}/api/v1/session`, { method: 'DELETE', headers });
    expect((await out({ cookie: first, origin: 'http://evil.example' })).status).to.equal(403);
    expect((await out({ cookie: first })).status).to.equal(403);
    expect((await who(one, first)).status).to.equal(200);
    const ended = await out({ cookie: first, origin: one.url });
    expect(ended.status).to.equal(204);
    expect(ended.setCookie).to.match(/=; Path=\/; Max-Age=0; HttpOnly; SameSite=Strict$/);
    await becomes(async () => (await who(two, first)).status, (status) => status === 401); // prettier-ignore
    expect((await who(two, second)).status).to.equal(200);
    expect((await out({})).status).to.equal(204);
    topic.compact();
    const three = await startNode(topic);
    expect([(await who(three, first)).status, (await who(three, second)).status]).to.deep.equal([401, 200]);
    await three.stop();
  });
  it('sign out at the rate of changes: each is a record', async () => {
    const { cookie } = await begin();
    const seen: number[] = [];
    admitChange = (tenantId) => {
      seen.push(tenantId);
      throw rateLimited('The tenant has used up its changes.', 1);
    };
    const out = await send(`${two.url}/api/v1/session`, { method: 'DELETE', headers: { cookie, origin: two.url } });
    admitChange = () => undefined;
    expect([out.status, seen]).to.deep.equal([429, [1]]);
    expect((await who(two, cookie)).status).to.equal(200);
  });
  it('WebSockets take the cookie from the own origin alone, and close when the session ends', async () => {
    const { cookie } = await begin();
    const connect = (headers: Record<string, string>): WebSocket =>
      new WebSocket(`${two.url.replace('http', 'ws')}/ws/livetail/1`, { headers });
    const refused = async (headers: Record<string, string>): Promise<number> => {
      const [, response] = (await once(connect(headers), 'unexpected-response')) as [unknown, { statusCode: number }];
      return response.statusCode;
    };
    expect(await refused({ cookie })).to.equal(403);
    expect(await refused({ cookie, origin: 'http://evil.example' })).to.equal(403);
    expect(await refused({ origin: two.url })).to.equal(401);
    const socket = connect({ cookie, origin: two.url });
    await once(socket, 'open');
    const closed = once(socket, 'close');
    await revokeKey(one.store, 1, key.id);
    const [code] = (await closed) as [number];
    expect(code).to.equal(1008);
  });

  describe('one-time codes', () => {
    const mint = async (tenant = '1', body: unknown = {}): Promise<Record<string, string>> => {
      const route = sessionCodeRoute(one.store, { query: () => Promise.resolve([]) }, 'http://127.0.0.1:8080');
      const answer = await route.handle({
        params: { tenant },
        query: new URLSearchParams(),
        requestId: 'r',
        body: () => Promise.resolve(body),
      });
      expect(answer.status).to.equal(201);
      return answer.body as Record<string, string>;
    };
    it('sign in once, on any node, and never a second time', async () => {
      const { code = '', url, key_id: keyId } = await mint();
      expect(url).to.equal(`http://127.0.0.1:8080/ui/#code=${code}`);
      expect(keyId).to.equal(key.id);
      expect(JSON.stringify(topic.records.map(({ value }) => value))).not.to.contain(code);
      await eventually('the code on the other node', () => two.store.slots('code', 1).size, (size) => size === 1); // prettier-ignore
      const begun = await send(`${two.url}/api/v1/session`, json({ code }));
      expect(begun.status).to.equal(200);
      expect((await who(one, begun.cookie)).body).to.include({ key_id: key.id });
      for (const node of [one, two]) expect((await send(`${node.url}/api/v1/session`, json({ code }))).status).to.equal(403);
    });
    it('of two browsers that send it at once to two nodes one is signed in', async () => {
      for (let round = 0; round < 5; round++) {
        const { code } = await mint();
        await eventually('the code on the other node', () => two.store.offset === one.store.offset, (is) => is); // prettier-ignore
        const answers = await Promise.all([one, two, one].map((node) => send(`${node.url}/api/v1/session`, json({ code }))));
        expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 403, 403]);
      }
    });
    it('are for a key that is named, and are bounded', async () => {
      const second = await createKey(one.store, 1, ['read'], null);
      expect((await mint('1', { key: second.record.id }))['key_id']).to.equal(second.record.id);
      const failures = async (tenant: string, body: unknown): Promise<string> => mint(tenant, body).then(() => '', (error: unknown) => (error as Error).message); // prettier-ignore
      expect(await failures('2', {})).to.equal('Tenant 2 has no key with the scope read.');
      expect(await failures('2', { key: key.id })).to.equal(`Tenant 2 has no key "${key.id}".`);
      expect(await failures('77', {})).to.equal('There is no tenant 77.');
      expect(await failures('1', { other: 1 })).to.match(/"other" is not allowed/);
      for (let made = 1; made < MAX_CODES; made++) await mint();
      expect(await failures('1', {})).to.match(/There are 20 sign-in codes already/);
      expect(one.store.slots('code', 1).size).to.equal(MAX_CODES);
    });
    it('are nothing when their key was revoked', async () => {
      const { code } = await mint();
      await revokeKey(one.store, 1, key.id);
      expect((await send(`${one.url}/api/v1/session`, json({ code }))).status).to.equal(403);
    });
  });
  it('tell what is not allowed and why, as requests are answered', async () => {
    await setFlag(one.store, 1, 'metrics', 'off');
    await setFlag(one.store, 1, 'demo', 'on');
    await addPayment(one.store, 2);
    const reader = await createKey(one.store, 1, ['read'], null);
    const { body } = await send(`${one.url}/api/v1/session`, { headers: { 'x-api-key': reader.secret } });
    const refused = body['refused'] as { what: string; status: number; why: string }[];
    expect(refused.map(({ status, why }) => [status, why])).to.deep.equal([
      [403, 'The API key lacks the scope `write`.'],
      [403, 'The API key lacks the scope `ingest`.'],
      [503, 'For this account metrics ingest is not enabled.'],
      [403, 'For this account multi-project is not enabled.'],
    ]);
    expect(body['demo']).to.equal(true);
  });
});

import { expect } from 'chai';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { createWebhookRoutes } from '../../../api/alerts/webhook-routes.ts';
import { createTenant, setDisabled } from '../../../api/control/accounts.ts';
import type { ControlStore } from '../../../api/control/control-store.ts';
import { webhooksOf } from '../../../api/control/webhooks.ts';
import { appEndpoint } from '../../../api/http/endpoint.ts';
import type { Scope } from '../../../api/tenants/principal.ts';
import { Addresses } from '../../../pipeline/alerting/announcements/addresses.ts';
import { Outbox } from '../../../pipeline/alerting/announcements/outbox.ts';
import { isSigned, SIGNATURE_HEADER } from '../../../pipeline/alerting/announcements/signature.ts';
import { webhookSender } from '../../../pipeline/alerting/announcements/webhook-sender.ts';
import { FakeLog, FakeTopic } from '../../fakes/compacted-log.ts';
import { controlNode, PEPPER } from '../../fakes/control-node.ts';
import { delivery } from '../../fakes/deliveries.ts';
import { eventually } from '../../fakes/eventually.ts';
import { FakeKeyStore } from '../../fakes/key-store.ts';
import { startHost } from '../../fakes/test-host.ts';

type Json = { readonly id: string; readonly secret: string; readonly items: readonly Record<string, unknown>[]; readonly detail: string; readonly slug: string } & Record<string, unknown>; // prettier-ignore

describe('/webhooks', () => {
  const topic = new FakeTopic();
  const asked: string[] = [];
  let control: ControlStore;
  let outbox: Outbox;
  let url: string;
  let receiver: http.Server;
  let hook: string;
  let got: { readonly body: string; readonly signature: string }[] = [];
  let answer = 200;
  const stops: (() => Promise<unknown>)[] = [];

  before(async () => {
    receiver = http.createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part)).on('end', () => {
        got.push({ body: Buffer.concat(parts).toString(), signature: String(request.headers[SIGNATURE_HEADER.toLowerCase()]) });
        response.writeHead(answer, answer === 302 ? { Location: '/elsewhere' } : {}).end('x'.repeat(100));
      }); // prettier-ignore
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    hook = `http://127.0.0.1:${String((receiver.address() as AddressInfo).port)}/hook`;
    control = (await controlNode(topic)).store;
    for (const name of ['a', 'b']) await createTenant(control, name, 'team');
    outbox = new Outbox({ log: new FakeLog(new FakeTopic()), logger: pino({ level: 'silent' }), retryMs: 1 });
    await outbox.start();
    const keys = new FakeKeyStore({
      ...{ one: {}, two: { tenantId: 2 }, demo: { demo: true } },
      ...{ reader: { scopes: new Set<Scope>(['read']) }, ingest: { scopes: new Set<Scope>(['ingest']) } },
    });
    const peers = { query: (path: string) => (asked.push(path), Promise.resolve([])) };
    const addresses = new Addresses(['127.0.0.0/8']);
    const send = webhookSender({ addresses, pepper: PEPPER, timeoutMs: 10_000 });
    const routes = createWebhookRoutes({ control, peers, outbox, send, addresses, pepper: PEPPER, now: () => 77 });
    const host = await startHost({ keys, endpoints: routes.map((route) => appEndpoint(route)) });
    url = host.url;
    stops.push(() => host.stop(), () => outbox.stop(), () => control.stop()); // prettier-ignore
  });
  after(async () => {
    for (const stop of stops) await stop();
    receiver.closeAllConnections();
    receiver.close();
  });
  beforeEach(() => {
    [got, answer] = [[], 200];
  });

  async function call(method: string, path: string, { key = 'one', tenant = 1, body }: { key?: string; tenant?: number; body?: unknown } = {}): Promise<{ status: number; json: Json }> {
    const response = await fetch(`${url}/api/v1/tenants/${String(tenant)}${path}`, {
      method,
      headers: { Authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, json: (text === '' ? {} : JSON.parse(text)) as Json };
  } // prettier-ignore

  it('are made, shown, changed and deleted; the secret is shown once, and every process is told', async () => {
    const made = await call('POST', '/webhooks', { body: { url: hook, min_severity: 'critical' } });
    expect(made.status).to.equal(201);
    expect(made.json).to.deep.include({ url: hook, form: 'json', min_severity: 'critical', detectors: [], services: [], enabled: true });
    expect(made.json.secret).to.match(/^whsec_/);
    expect(asked).to.deep.equal([`/admin/control/${control.offset.toString()}`]);
    const shown = Object.fromEntries(Object.entries(made.json).filter(([name]) => name !== 'secret'));
    const path = `/webhooks/${made.json.id}`;
    expect((await call('GET', path, { key: 'reader' })).json).to.deep.equal(shown);
    expect((await call('GET', '/webhooks')).json.items).to.deep.equal([shown]);
    const changed = await call('PUT', path, { body: { url: hook, form: 'slack', services: ['web'], enabled: false } });
    expect(changed.json).to.deep.equal({ ...shown, form: 'slack', min_severity: 'info', services: ['web'], enabled: false });
    expect(webhooksOf(control, 1).length).to.equal(1);
    expect([(await call('DELETE', path)).status, (await call('GET', path)).status, (await call('DELETE', path)).status]).to.deep.equal([
      204, 404, 404,
    ]);
    expect((await call('GET', '/webhooks')).json.items).to.deep.equal([]);
    // nothing in the records can be used to sign
    expect(topic.records.map(({ value }) => value).join()).not.to.contain(made.json.secret.slice(6));
  });

  it('are ten of a tenant at most, in places that are used again', async () => {
    const body = { url: hook };
    const ids: string[] = [];
    for (let n = 0; n < 10; n++) ids.push((await call('POST', '/webhooks', { body })).json.id);
    expect((await call('POST', '/webhooks', { body })).status).to.equal(409);
    expect((await call('POST', '/webhooks', { body, key: 'two', tenant: 2 })).status).to.equal(201);
    await call('DELETE', `/webhooks/${String(ids[3])}`);
    const again = (await call('POST', '/webhooks', { body })).json.id;
    expect(ids).not.to.include(again);
    expect((await call('GET', `/webhooks/${String(ids[3])}`)).status).to.equal(404);
    for (const id of [again, ...ids]) await call('DELETE', `/webhooks/${id}`);
    topic.compact();
    expect(new Set(topic.records.filter(({ key }) => key.startsWith('webhook:1:')).map(({ key }) => key)).size).to.equal(10);
  });

  it('are of their tenant alone, and of those who may', async () => {
    const { id } = (await call('POST', '/webhooks', { body: { url: hook } })).json;
    await outbox.add(delivery({ id: 'dl_own', webhookId: id, state: 'failed' }));
    const before = control.offset;
    const ways: [string, string, unknown][] = [
      ['GET', `/webhooks/${id}`, undefined],
      ['PUT', `/webhooks/${id}`, { url: hook }],
      ['DELETE', `/webhooks/${id}`, undefined],
      ['POST', `/webhooks/${id}/test`, undefined],
      ['POST', '/webhook-deliveries/dl_own/retry', undefined],
    ];
    for (const [method, path, body] of ways) {
      expect((await call(method, path, { key: 'two', tenant: 2, body })).status, `${method} ${path}`).to.equal(404);
      expect((await call(method, path, { key: 'two', tenant: 1, body })).status, `${method} ${path}`).to.equal(403);
      expect((await call(method, path, { key: 'ingest', body })).status, `${method} ${path}`).to.equal(403);
      if (method === 'GET') continue;
      for (const key of ['reader', 'demo'])
        expect((await call(method, path, { key, body })).status, `${method} ${path} ${key}`).to.equal(403);
    }
    expect((await call('GET', '/webhook-deliveries', { key: 'two', tenant: 2 })).json.items).to.deep.equal([]);
    expect([control.offset, got.length, outbox.find('dl_own')?.state]).to.deep.equal([before, 0, 'failed']);
    await setDisabled(control, 1, true);
    expect(webhooksOf(control, 1)).to.deep.equal([]);
    await setDisabled(control, 1, false);
    await outbox.remove('dl_own');
    await call('DELETE', `/webhooks/${id}`);
  });

  it('refuse what is wrong, and say what', async () => {
    const before = control.offset;
    const wrong: [unknown, RegExp][] = [
      ['{', /JSON/],
      ['[]', /object/],
      [{}, /"url" is required/],
      [{ url: 'http://169.254.169.254/' }, /private address/],
      [{ url: 'http://10.0.0.1/' }, /private address/],
      [{ url: 'https://u:p@hooks.example/' }, /password/],
      [{ url: hook, form: 'teams' }, /"form" must be one of/],
      [{ url: hook, min_severity: 'high' }, /"min_severity" must be one of/],
      [{ url: hook, services: Array(21).fill('x') }, /"services"/],
      [{ url: hook, detectors: ['x'.repeat(201)] }, /"detectors/],
      [{ url: hook, enabled: 'yes' }, /"enabled"/],
      [{ url: hook, secret: 'mine' }, /"secret" is not allowed/],
    ];
    for (const [body, detail] of wrong) {
      const { status, json } = await call('POST', '/webhooks', { body });
      expect([status, json.detail], JSON.stringify(body)).to.satisfy(([code, text]: [number, string]) => code === 400 && detail.test(text));
    }
    expect(control.offset).to.equal(before);
    const { json } = await call('POST', '/webhooks', { body: `{"url":${JSON.stringify(hook)},"__proto__":{"enabled":false}}` });
    expect([json['enabled'], ({} as Record<string, unknown>)['enabled']]).to.deep.equal([true, undefined]);
    await call('DELETE', `/webhooks/${json.id}`);
  });

  it('are tested: signed, and what the other side says is told', async () => {
    const made = (await call('POST', '/webhooks', { body: { url: hook } })).json;
    const test = (): Promise<{ status: number; json: Json }> => call('POST', `/webhooks/${made.id}/test`);
    expect((await test()).json).to.deep.include({ delivered: true, status: 200, error: null });
    const [{ body, signature } = { body: '', signature: '' }] = got;
    expect(JSON.parse(body)).to.deep.include({ type: 'test', tenant_id: 1 });
    expect(isSigned(made.secret, body, signature, Date.now() / 1000)).to.equal(true);
    expect(isSigned(made.secret, `${body} `, signature, Date.now() / 1000)).to.equal(false);
    answer = 302;
    expect((await test()).json).to.deep.include({ delivered: false, status: 302 });
    expect(got.length).to.equal(2);
    // one at a time
    const both = await Promise.all([test(), test()]);
    expect(both.map(({ status }) => status).sort()).to.deep.equal([200, 429]);
    await call('PUT', `/webhooks/${made.id}`, { body: { url: hook.replace(/:\d+/, ':1025') } });
    expect((await test()).json).to.deep.include({ delivered: false, status: null, error: 'The connection was refused.' });
    await call('DELETE', `/webhooks/${made.id}`);
  });

  it('show what they could not be told, which is tried again when somebody says so', async () => {
    const { id } = (await call('POST', '/webhooks', { body: { url: hook } })).json;
    await outbox.add(delivery({ id: 'dl_1', webhookId: id, state: 'failed', status: 404, attempts: 1 }));
    await outbox.add(delivery({ id: 'dl_2', webhookId: id, madeAt: 1, at: 1 }));
    const ids = async (query = ''): Promise<unknown[]> => (await call('GET', `/webhook-deliveries${query}`, { key: 'reader' })).json.items.map((one) => one['id']); // prettier-ignore
    expect([await ids(), await ids('?state=failed'), await ids('?state=pending')]).to.deep.equal([['dl_1', 'dl_2'], ['dl_1'], ['dl_2']]);
    expect((await call('GET', '/webhook-deliveries?state=lost')).status).to.equal(400);
    const { status, json } = await call('POST', '/webhook-deliveries/dl_1/retry');
    expect([status, json['state'], json['next_attempt_at']]).to.deep.equal([202, 'pending', new Date(77).toISOString()]);
    await eventually('the outbox', () => outbox.find('dl_1')?.state, (state) => state === 'pending'); // prettier-ignore
    expect((await call('POST', '/webhook-deliveries/dl_9/retry')).status).to.equal(404);
    for (const one of ['dl_1', 'dl_2']) await outbox.remove(one);
    await call('DELETE', `/webhooks/${id}`);
  });
});

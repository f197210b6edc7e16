import { expect } from 'chai';
import { createKey, createTenant, revokeKey, rotateKey, setDisabled } from '../../../api/control/accounts.ts';
import type { ControlStore } from '../../../api/control/control-store.ts';
import type { Endpoint } from '../../../api/http/endpoint.ts';
import type { ErrorStyle } from '../../../api/http/render-error.ts';
import { FakeControlTopic } from '../../fakes/control-log.ts';
import { controlNode } from '../../fakes/control-node.ts';
import { startHost } from '../../fakes/test-host.ts';

const path = (at: string, errors: ErrorStyle, plane: 'ingest' | 'app', scope: 'ingest' | 'read'): Endpoint => ({
  methods: ['POST'],
  path: at,
  errors,
  access: { plane, scope },
  handle: () => Promise.resolve({ status: 204 }),
});
const ENDPOINTS = [
  path('/logs', 'ingest', 'ingest', 'ingest'),
  path('/hec', 'hec', 'ingest', 'ingest'),
  path('/firehose', 'firehose', 'ingest', 'ingest'),
  path('/metrics', 'metrics', 'app', 'ingest'),
  path('/query', 'query', 'app', 'read'),
];

describe('keys while Kafka is out of reach', () => {
  const topic = new FakeControlTopic();
  let known: ControlStore;
  let [secret, keyId] = ['', ''];
  const running: { stop(): Promise<unknown> }[] = [];
  before(async () => {
    known = (await controlNode(topic)).store;
    await createTenant(known, 'acme', 'team');
    const issued = await createKey(known, 1, ['ingest', 'read'], null);
    [secret, keyId] = [issued.secret, issued.record.id];
  });
  after(() => Promise.all(running.map((service) => service.stop())));

  async function host(keys: ControlStore): Promise<string> {
    const server = await startHost({ endpoints: ENDPOINTS, keys });
    running.push(server);
    return server.url;
  }
  async function post(url: string, key: string | null): Promise<{ status: number; headers: Headers; json: Record<string, unknown> }> {
    const response = await fetch(url, { method: 'POST', headers: key === null ? {} : { authorization: `Bearer ${key}` } });
    const text = await response.text();
    return { status: response.status, headers: response.headers, json: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> };
  }

  it('a process that never read them answers 503, to be tried again, in the style of each path', async () => {
    topic.down = true;
    const { store } = await controlNode(topic);
    running.push(store);
    const url = await host(store);
    const keysOf: readonly (readonly [string, readonly string[]])[] = [
      ['/logs', ['error', 'detail', 'request_id']],
      ['/hec', ['text', 'code', 'error', 'detail', 'request_id']],
      ['/firehose', ['requestId', 'timestamp', 'errorMessage', 'error', 'detail', 'request_id']],
      ['/metrics', ['detail']],
      ['/query', ['detail', 'request_id']],
    ];
    for (const [at, names] of keysOf) {
      const { status, headers, json } = await post(url + at, secret);
      expect(status, at).to.equal(503);
      expect(headers.get('retry-after'), at).to.equal('5');
      expect(Object.keys(json), at).to.deep.equal(names);
      expect(json['detail'], at).to.contain('authentication');
      if (names.includes('error')) expect(json['error']).to.equal('auth_unavailable');
      expect((await post(url + at, null)).status, `${at} without a key`).to.equal(401);
    }
    topic.down = false;
    await store.whenReady();
    for (const [at] of keysOf) expect((await post(url + at, secret)).status, `${at} afterwards`).to.equal(204);
  });

  it('one that has read them keeps its last answers', async () => {
    const url = await host(known);
    topic.down = true;
    for (const { path: at } of ENDPOINTS) {
      expect((await post(url + at, secret)).status).to.equal(204);
      expect((await post(url + at, 'unknown')).status).to.equal(403);
    }
    topic.down = false;
  });

  it('a key that was rotated, revoked, or whose tenant was disabled is refused from then on, on every node', async () => {
    const { store: other } = await controlNode(topic);
    const urls = [await host(known), await host(other)];
    const everywhere = async (key: string): Promise<number[]> => {
      await other.seen(known.offset, 60_000);
      return Promise.all(urls.map(async (url) => (await post(`${url}/logs`, key)).status));
    };
    expect(await everywhere(secret)).to.deep.equal([204, 204]);
    const rotated = (await rotateKey(known, 1, keyId)).secret;
    expect(await everywhere(secret)).to.deep.equal([403, 403]);
    expect(await everywhere(rotated)).to.deep.equal([204, 204]);
    await setDisabled(known, 1, true);
    expect(await everywhere(rotated)).to.deep.equal([403, 403]);
    await setDisabled(known, 1, false);
    expect(await everywhere(rotated)).to.deep.equal([204, 204]);
    await revokeKey(known, 1, keyId);
    expect(await everywhere(rotated)).to.deep.equal([403, 403]);
  });

  it('a key is refused the moment it expires', async () => {
    const url = await host(known);
    const soon = Date.now() + 1000;
    const { secret: short } = await createKey(known, 1, ['ingest'], new Date(soon).toISOString());
    let [sentAt, answer] = [Date.now(), await post(`${url}/logs`, short)];
    // on a busy machine even the first answer may come too late to say
    while (answer.status === 204 && sentAt < soon) [sentAt, answer] = [Date.now(), await post(`${url}/logs`, short)];
    expect(answer.status).to.equal(403);
    expect(answer.json['detail']).to.contain('expired');
    expect(Date.now()).to.be.at.least(soon);
  });
});

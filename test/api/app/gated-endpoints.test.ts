import { expect } from 'chai';
import { gatedEndpoints } from '../../../api/app/gated-endpoints.ts';
import { FORWARDED_PATHS } from '../../../api/auth/planes.ts';
import { PLANS } from '../../../api/tenants/plans.ts';
import { appHostEndpoints, ingestHostEndpoints } from '../../../api/http/host-lists.ts';
import { FakeKeyStore } from '../../fakes/key-store.ts';
import { RawClient } from '../../fakes/raw-client.ts';
import { startHost } from '../../fakes/test-host.ts';

const REPLAY = '/v1/rum/replay';
const PROJECTS = '/api/v1/account/projects';

describe('gates of the app plane', () => {
  const keys = new FakeKeyStore({
    all: {},
    reader: { scopes: new Set(['read']) },
    writer: { scopes: new Set(['write']) },
    ingester: { scopes: new Set(['ingest']) },
    demo: { demo: true },
    ...Object.fromEntries(PLANS.map((plan) => [plan.name, { plan }])),
  });
  const hosts: Record<string, Awaited<ReturnType<typeof startHost>>> = {};
  before(async () => {
    hosts['app'] = await startHost({ endpoints: appHostEndpoints([], gatedEndpoints), keys });
    hosts['ingest'] = await startHost({ endpoints: ingestHostEndpoints([], gatedEndpoints), keys });
  });
  after(() => Promise.all(Object.values(hosts).map((host) => host.stop())));

  async function post(
    host: string,
    path: string,
    headers: Record<string, string>,
  ): Promise<{ status: number; headers: Headers; json: object }> {
    const response = await fetch(`${hosts[host]?.url ?? ''}${path}`, { method: 'POST', headers, body: 'x' });
    return { status: response.status, headers: response.headers, json: (await response.json()) as object };
  }
  const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });

  for (const host of ['app', 'ingest']) {
    it(`${REPLAY} on the ${host} host: 503`, async () => {
      const { status, headers, json } = await post(host, REPLAY, bearer('ingester'));
      expect(status).to.equal(503);
      expect(json).to.have.all.keys('detail', 'request_id');
      expect((json as { detail: string }).detail).to.contain('session replay is not enabled');
      expect(headers.has('retry-after')).to.equal(false);
    });
  }

  it(`${PROJECTS}: 403 on the app host, 404 on the ingest host`, async () => {
    const { status, json } = await post('app', PROJECTS, bearer('writer'));
    expect(status).to.equal(403);
    expect(json).to.have.all.keys('detail', 'request_id');
    expect((json as { detail: string }).detail).to.contain('multi-project is not enabled');
    for (const key of ['writer', 'nobody']) expect((await post('ingest', PROJECTS, bearer(key))).status).to.equal(404);
  });

  it('the ingest host has the forwarded path of them, and no other', () => {
    expect(FORWARDED_PATHS).to.include(REPLAY);
    expect(ingestHostEndpoints([], gatedEndpoints).map(({ path }) => path)).to.have.members(['/health', REPLAY]);
  });

  it('every plan has them', async () => {
    for (const { name } of PLANS) {
      expect((await post('app', REPLAY, bearer(name))).status, name).to.equal(503);
      expect((await post('app', PROJECTS, bearer(name))).status, name).to.equal(403);
    }
  });

  it('the key and its scope come first: a gate is no answer for everybody', async () => {
    const rows: readonly (readonly [string, Record<string, string>, number, RegExp])[] = [
      [REPLAY, {}, 401, /No API key/],
      [REPLAY, bearer('nobody'), 403, /not known/],
      [REPLAY, bearer('writer'), 403, /scope `ingest`/],
      [REPLAY, bearer('demo'), 503, /not enabled/],
      [REPLAY, bearer('reader'), 403, /scope `ingest`/],
      [PROJECTS, bearer('ingester'), 403, /scope `write`/],
      [PROJECTS, bearer('demo'), 403, /read-only/],
    ];
    for (const [path, headers, status, detail] of rows) {
      const answer = await post('app', path, headers);
      expect(answer.status, path).to.equal(status);
      expect((answer.json as { detail: string }).detail).to.match(detail);
    }
  });

  it('the body is not read: the answer comes before it was sent', async () => {
    const client = new RawClient(hosts['ingest']?.port ?? 0);
    client.send('POST /v1/rum/replay HTTP/1.1\r\nHost: x\r\nX-API-Key: all\r\nContent-Encoding: br\r\nContent-Length: 99000000\r\n\r\n');
    expect((await client.answer()).status).to.equal(503);
    client.destroy();
  });

  it('another method is a 405 in the style of the path', async () => {
    const answer = await fetch(`${hosts['ingest']?.url ?? ''}${REPLAY}`);
    expect(answer.status).to.equal(405);
    expect(answer.headers.get('allow')).to.equal('POST');
    expect(await answer.json()).to.have.all.keys('detail', 'request_id');
  });
});

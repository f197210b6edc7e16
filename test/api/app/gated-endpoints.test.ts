import { expect } from 'chai';
import { gatedEndpoints } from '../../../api/app/gated-endpoints.ts';
import { PLANS } from '../../../api/tenants/plans.ts';
import { appHostEndpoints, ingestHostEndpoints } from '../../../api/http/host-lists.ts';
import { FakeKeyStore } from '../../fakes/key-store.ts';
import { RawClient } from '../../fakes/raw-client.ts';
import { startHost } from '../../fakes/test-host.ts';

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

  it(`${PROJECTS}: 403 on the app host, 404 on the ingest host`, async () => {
    const { status, json } = await post('app', PROJECTS, bearer('writer'));
    expect(status).to.equal(403);
    expect(json).to.have.all.keys('detail', 'request_id');
    expect((json as { detail: string }).detail).to.contain('multi-project is not enabled');
    for (const key of ['writer', 'nobody']) expect((await post('ingest', PROJECTS, bearer(key))).status).to.equal(404);
  });

  it('the ingest host has none of them', () => {
    expect(ingestHostEndpoints([], gatedEndpoints).map(({ path }) => path)).to.have.members(['/health']);
  });

  it('every plan has them', async () => {
    for (const { name } of PLANS) {
      expect((await post('app', PROJECTS, bearer(name))).status, name).to.equal(403);
    }
  });

  it('the key and its scope come first: a gate is no answer for everybody', async () => {
    const rows: readonly (readonly [string, Record<string, string>, number, RegExp])[] = [
      [PROJECTS, {}, 401, /No API key/],
      [PROJECTS, bearer('nobody'), 403, /not known/],
      [PROJECTS, bearer('reader'), 403, /scope `write`/],
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
    const client = new RawClient(hosts['app']?.port ?? 0);
    client.send(`POST ${PROJECTS} HTTP/1.1\r\nHost: x\r\nX-API-Key: all\r\nContent-Encoding: br\r\nContent-Length: 99000000\r\n\r\n`);
    expect((await client.answer()).status).to.equal(403);
    client.destroy();
  });

  it('another method is a 405 in the style of the path', async () => {
    const answer = await fetch(`${hosts['app']?.url ?? ''}${PROJECTS}`);
    expect(answer.status).to.equal(405);
    expect(answer.headers.get('allow')).to.equal('POST');
    expect(await answer.json()).to.have.all.keys('detail', 'request_id');
  });
});

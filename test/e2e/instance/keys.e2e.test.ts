import { expect } from 'chai';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Instance } from '../instance.ts';
import { newTenant, sharedInstance } from '../shared.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../../..');

describe('an operator changes keys, and both hosts know at once', function () {
  this.timeout(600_000);
  let instance: Instance;
  let tenant: string;

  before(async () => {
    instance = await sharedInstance();
    tenant = String((await newTenant(instance)).id);
  });

  async function admin<Answer>(...argv: string[]): Promise<Answer> {
    const { stdout } = await run(process.execPath, ['cli/logweir.mjs', 'admin', ...argv, '--tenant', tenant, '--json'], {
      cwd: root,
      env: instance.env,
    });
    return JSON.parse(stdout) as Answer;
  }
  const createKey = (...argv: string[]): Promise<{ id: string; key: string }> => admin('key', 'create', ...argv);

  async function status(method: string, url: string, key: string): Promise<number> {
    const response = await fetch(url, {
      method,
      headers: { Authorization: `Bearer ${key}` },
      ...(method === 'POST' ? { body: '{"_msg":"x"}' } : {}),
    });
    await response.arrayBuffer();
    return response.status;
  }
  /** Ingest on the ingest host, ingest on the app host, and a query. */
  const everywhere = (key: string): Promise<number[]> =>
    Promise.all([
      status('POST', `${instance.ingest}/api/v1/ingest`, key),
      status('POST', `${instance.app}/api/v1/ingest`, key),
      status('GET', `${instance.app}/api/v1/tenants/${tenant}/hits`, key),
    ]);

  it('created, rotated, revoked', async () => {
    const { id, key } = await createKey('--scopes', 'read,ingest');
    expect(await everywhere(key)).to.deep.equal([200, 200, 200]);
    const { key: rotated } = await admin<{ key: string }>('key', 'rotate', '--id', id);
    expect(await everywhere(key)).to.deep.equal([403, 403, 403]);
    expect(await everywhere(rotated)).to.deep.equal([200, 200, 200]);
    await admin('key', 'revoke', '--id', id);
    expect(await everywhere(rotated)).to.deep.equal([403, 403, 403]);
  });

  it('a key has the scopes it was given, and no other', async () => {
    expect(await everywhere((await createKey()).key)).to.deep.equal([403, 403, 200]);
    expect(await everywhere((await createKey('--scopes', 'ingest')).key)).to.deep.equal([200, 200, 403]);
    expect(await everywhere((await createKey('--scopes', 'write')).key)).to.deep.equal([403, 403, 403]);
  });

  it('its tenant disabled and enabled again', async () => {
    const { key } = await createKey('--scopes', 'read,ingest');
    await admin('tenant', 'disable');
    expect(await everywhere(key)).to.deep.equal([403, 403, 403]);
    await admin('tenant', 'enable');
    expect(await everywhere(key)).to.deep.equal([200, 200, 200]);
  });

  it('expired', async () => {
    const { key: past } = await createKey('--scopes', 'read,ingest', '--expires', '2020-01-01T00:00:00Z');
    expect(await everywhere(past)).to.deep.equal([403, 403, 403]);
    // as soon as this machine lets it be used before
    let soon = 0;
    let key = '';
    for (let ms = 2000, isEarly = false; !isEarly; ms *= 2) {
      soon = Date.now() + ms;
      ({ key } = await createKey('--scopes', 'read,ingest', '--expires', new Date(soon).toISOString()));
      const statuses = await everywhere(key);
      isEarly = Date.now() < soon;
      if (isEarly) expect(statuses).to.deep.equal([200, 200, 200]);
    }
    while (Date.now() <= soon) await new Promise((resolve) => setTimeout(resolve, soon - Date.now() + 1));
    expect(await everywhere(key)).to.deep.equal([403, 403, 403]);
  });

  it('gates: projects are off, for a key that may ask; so are metrics and replay where a flag says it', async () => {
    for (const flag of ['metrics', 'replay', 'projects']) await admin('tenant', 'set-flag', '--flag', flag, '--value', 'off');
    const { key } = await createKey('--scopes', 'ingest,write');
    const rows: readonly (readonly [string, string, number, RegExp])[] = [
      ...[instance.app, instance.ingest].flatMap((host) => [
        ...['/v1/metrics', '/api/v1/otel/v1/metrics', '/api/v1/write', '/write', '/api/v2/write'].map(
          (at) => [host, at, 503, /metrics ingest is not enabled/] as const,
        ),
        [host, '/v1/rum/replay', 503, /session replay is not enabled/] as const,
      ]),
      [instance.app, '/api/v1/account/projects', 403, /multi-project is not enabled/],
      [instance.ingest, '/api/v1/account/projects', 404, /No such path/],
    ];
    for (const [host, at, code, detail] of rows) {
      const answer = await instance.call('POST', host + at, 'x', { Authorization: `Bearer ${key}` });
      expect(answer.status, at).to.equal(code);
      expect((answer.body as { detail: string }).detail, at).to.match(detail);
      expect(answer.headers.has('retry-after'), at).to.equal(false);
      expect(answer.headers.get('x-request-id'), at).to.match(/^[0-9a-f-]{36}$/);
    }
  });
});

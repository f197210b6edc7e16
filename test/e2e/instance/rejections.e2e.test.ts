import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { until, type Instance } from '../instance.ts';
import { newTenant, sharedInstance } from '../shared.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../../..');

type Rejection = Readonly<Record<'time' | 'format' | 'reason' | 'sample' | 'request_id', string>> & { readonly index: number | null };

describe('a shipper sends what cannot be taken, its owner finds out why', function () {
  this.timeout(600_000);
  let instance: Instance;
  let tenant: Awaited<ReturnType<typeof newTenant>>;

  before(async () => {
    instance = await sharedInstance();
    tenant = await newTenant(instance);
  });

  const send = (url: string, body: string | Uint8Array, headers: Record<string, string> = {}): ReturnType<Instance['call']> =>
    instance.call('POST', url, body, { Authorization: `Bearer ${tenant.key}`, ...headers });
  const cli = async (...argv: string[]): Promise<string> =>
    (await run(process.execPath, ['cli/logweir.mjs', 'admin', 'rejections', ...argv], { cwd: root, env: instance.env })).stdout;

  it('over both hosts, by the API and by the command line', async () => {
    expect(
      (await send(`${instance.ingest}/api/v1/ingest`, '{"_msg":"good"}\n{"level":"x"}\n{"_msg":"x","_time":"soon"}')).body,
    ).to.deep.include({
      accepted: 1,
      rejected: 2,
    });
    const bulk = `{"create":{}}\n{"_msg":"good"}\n{"create":{}}\n{"_msg":"bad\\u001b[2J","_time":"\u009b2J"}\n`;
    const onApp = await send(`${instance.app}/_bulk`, gzipSync(bulk), { 'Content-Encoding': 'gzip' });
    expect(onApp.body).to.deep.include({ errors: true });
    const whole = await send(`${instance.ingest}/api/v1/ingest`, '{"_msg":"half', { 'X-Request-Id': 'the-broken-one' });
    expect(whole.status).to.equal(400);

    const answer = await instance.call('GET', `${instance.app}/api/v1/tenants/${tenant.id}/rejections`, undefined, {
      Authorization: `Bearer ${tenant.key}`,
    });
    expect(answer.status).to.equal(200);
    const { rejections } = answer.body as { rejections: Rejection[] };
    expect(rejections.map(({ format, index, sample }) => [format, index, sample])).to.deep.equal([
      ['json', null, '{"_msg":"half'],
      ['es_bulk', 1, '{"_msg":"bad\\u001b[2J","_time":"\u009b2J"}'],
      ['json', 2, '{"_msg":"x","_time":"soon"}'],
      ['json', 1, '{"level":"x"}'],
    ]);
    expect(rejections.map(({ reason }) => reason)[0]).to.equal((whole.body as { detail: string }).detail);
    expect(rejections[1]?.reason).to.match(/^_time is not a time/);
    expect(rejections[2]?.reason).to.equal('_time is not a time: "soon"');
    expect(rejections[3]?.reason).to.match(/^no message/);
    expect(rejections[0]?.request_id).to.equal('the-broken-one');
    expect(rejections[1]?.request_id).to.equal(onApp.headers.get('x-request-id'));
    for (const { time } of rejections) expect(Math.abs(Date.parse(time) - Date.now())).to.be.below(60_000);

    const asJson = await cli('--tenant', String(tenant.id), '--json', '--newest-first');
    expect(JSON.parse(asJson)).to.deep.equal(rejections);
    const table = await cli('--tenant', String(tenant.id));
    expect(table.split('\n')).to.have.lengthOf(1 + 4 + 1);
    // eslint-disable-next-line no-control-regex -- it is control characters that must not be there
    for (const out of [asJson, table]) expect(out.replaceAll('\n', '')).not.to.match(/[\u0000-\u001f\u007f-\u009f]/);
  });

  it('and nobody else does', async () => {
    const other = await newTenant(instance);
    const url = `${instance.app}/api/v1/tenants/${tenant.id}/rejections`;
    expect((await instance.call('GET', url, undefined, { Authorization: `Bearer ${other.key}` })).status).to.equal(403);
    expect((await fetch(url)).status).to.equal(401);
    expect((await instance.call('GET', url.replace(instance.app, instance.ingest))).status).to.equal(404);
    expect(JSON.parse(await cli('--tenant', String(other.id), '--json'))).to.deep.equal([]);
    await cli('--tenant', '999999').then(
      () => expect.fail('a tenant that is not there'),
      (error: unknown) => expect((error as { stderr: string }).stderr).to.equal('There is no tenant 999999.\n'),
    );
  });

  it('they are counted by format and class', async () => {
    const text = await (await fetch(`${instance.admin}/metrics`)).text();
    expect(text).to.match(/logweir_rejected_entries_total\{format="json",signal="logs",reason="no_message",role="ingest"\} [1-9]/);
    expect(text).to.match(/logweir_rejected_entries_total\{format="es_bulk",signal="logs",reason="time_unreadable",role="app"\} [1-9]/);
  });

  it('requests that were refused as a whole are shown too, of a revoked key as well, and over a restart', async () => {
    const own = await newTenant(instance);
    const token = readFileSync(path.join(instance.dataDir, 'admin.token'), 'utf8').trim();
    const operator = { Authorization: `Bearer ${token}` };
    const made = await instance.call('POST', `${instance.admin}/admin/tenants/${own.id}/keys`, { scopes: ['ingest'] }, operator);
    const { id, key } = made.body as { id: string; key: string };
    const send = async (at: string, authorization: string, body = '{"_msg":"x"}'): Promise<number> =>
      (
        await fetch(`${instance.ingest}${at}`, {
          method: 'POST',
          headers: { Authorization: authorization, 'User-Agent': 'shipper/1' },
          body,
        })
      ).status;
    expect(await send('/api/v2/logs', `Bearer ${key}`)).to.equal(404);
    expect(await send('/api/v1/ingest', `Bearer ${key}`, 'x'.repeat(3_000_000))).to.equal(413);
    expect(await send('/services/collector/event', `Splunk ${key}`)).to.equal(401);
    expect(await send('/', `Bearer ${key}`)).to.equal(405);
    await instance.call('DELETE', `${instance.admin}/admin/tenants/${own.id}/keys/${id}`, undefined, operator);
    for (let n = 0; n < 3; n++) expect(await send('/loki/api/v1/push', `Bearer ${key}`)).to.equal(403);
    const shown = async (): Promise<unknown> => {
      const answer = await instance.call('GET', `${instance.app}/api/v1/tenants/${own.id}/rejections`, undefined, {
        Authorization: `Bearer ${own.key}`,
      });
      const { rejections } = answer.body as { rejections: { status: number; path: string; client: string; count?: number }[] };
      return rejections.map(({ status, path: at, client, count }) => [status, at, client, count]);
    };
    const expected = [
      [403, '/loki/api/v1/push', 'shipper/1', 3],
      [405, '/', 'shipper/1', undefined],
      [401, '/services/collector/event', 'shipper/1', undefined],
      [413, '/api/v1/ingest', 'shipper/1', undefined],
      [404, '/api/v2/logs', 'shipper/1', undefined],
    ];
    expect(await shown()).to.deep.equal(expected);
    const before = instance.processes().get('ingest');
    process.kill(before?.pid ?? 0, 'SIGTERM');
    await until('ingest is started again', () => Promise.resolve(instance.processes().get('ingest')), (now) => now?.pid !== before?.pid); // prettier-ignore
    const same = (now: unknown): boolean => JSON.stringify(now) === JSON.stringify(expected);
    expect(await until('what was refused before', shown, same)).to.deep.equal(expected);
  });
});

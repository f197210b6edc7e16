import { expect } from 'chai';
import { request } from 'node:http';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { brotliCompressSync, gunzipSync, gzipSync, brotliDecompressSync } from 'node:zlib';
import { health, type Endpoint } from '../../../api/http/endpoint.ts';
import { leadingToPages, uiEndpoints } from '../../../api/ui/endpoints.ts';
import { FakeKeyStore } from '../../fakes/key-store.ts';
import { startHost } from '../../fakes/test-host.ts';

const INDEX = '<!doctype html><title>pages</title>';
type Raw = { readonly status: number; readonly headers: NodeJS.Dict<string | string[]>; readonly body: Buffer };

const REFERENCE = '<!doctype html><title>reference</title>';
const SCRIPT = 'export const a = 1;\n'.repeat(200);

describe('the root of the app host', () => {
  const root: Endpoint = {
    ...{ methods: ['GET', 'HEAD'], path: '/', errors: 'query', access: { plane: 'ingest', scope: 'ingest' } },
    handle: () => Promise.resolve({ status: 200, body: { probe: true } }),
  };
  let host: Awaited<ReturnType<typeof startHost>>;
  before(async () => {
    host = await startHost({ endpoints: leadingToPages([health, root]), keys: new FakeKeyStore({}) });
  });
  after(() => host.stop());

  const cases: readonly (readonly [string, string, number])[] = [
    ['a browser', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 302],
    ['a client of Elasticsearch', 'application/vnd.elasticsearch+json; compatible-with=8', 401],
    ['curl', '*/*', 401],
    ['one that takes nothing', '', 401],
  ];
  for (const [who, accept, status] of cases)
    it(`${who}: ${String(status)}`, async () => {
      const answer = await fetch(`${host.url}/`, { headers: { accept }, redirect: 'manual' });
      expect(answer.status).to.equal(status);
      expect(answer.headers.get('location')).to.equal(status === 302 ? '/ui/' : null);
    });

  it('leads nowhere from other paths', async () => {
    expect((await fetch(`${host.url}/health`, { headers: { accept: 'text/html' }, redirect: 'manual' })).status).to.equal(200);
  });
});

describe('the pages under /ui', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-ui-'));
  let host: Awaited<ReturnType<typeof startHost>>;
  before(async () => {
    mkdirSync(path.join(folder, 'ui', 'assets'), { recursive: true });
    writeFileSync(path.join(folder, 'secret.txt'), 'secret');
    writeFileSync(path.join(folder, 'ui', 'notes.txt'), 'not a type that is served');
    writeFileSync(path.join(folder, 'ui', 'index.html'), INDEX);
    const script = path.join(folder, 'ui', 'assets', 'index-abc123.js');
    writeFileSync(script, SCRIPT);
    writeFileSync(`${script}.gz`, gzipSync(SCRIPT));
    writeFileSync(`${script}.br`, brotliCompressSync(SCRIPT));
    mkdirSync(path.join(folder, 'ui', 'api'));
    writeFileSync(path.join(folder, 'ui', 'api', 'index.html'), REFERENCE);
    const endpoints = uiEndpoints(path.join(folder, 'ui'));
    host = await startHost({ endpoints: [health, ...endpoints], keys: new FakeKeyStore({}) });
  });
  after(async () => {
    await host.stop();
    rmSync(folder, { recursive: true });
  });

  const get = (at: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> =>
    fetch(host.url + at, { method, headers: { 'accept-encoding': 'identity', ...headers } });

  /** The path as it is written, which `fetch` would tidy up. */
  const raw = (at: string, headers: Record<string, string> = {}): Promise<Raw> =>
    new Promise((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port: host.port, path: at, headers, agent: false }, (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(parts) }));
      });
      sent.on('error', reject).end();
    });

  for (const at of ['/ui', '/ui/', '/ui/t/42/explore', '/ui/t/42/patterns/abc?q=x', '/ui/index.html', '/ui/a/b/c/d'])
    it(`${at} is the index, which is looked up each time`, async () => {
      const answer = await get(at);
      expect(answer.status).to.equal(200);
      expect(await answer.text()).to.equal(INDEX);
      expect(answer.headers.get('content-type')).to.equal('text/html; charset=utf-8');
      expect(answer.headers.get('cache-control')).to.equal('no-cache');
    });

  it('a file with a hashed name is kept for ever', async () => {
    const answer = await get('/ui/assets/index-abc123.js');
    expect(await answer.text()).to.equal(SCRIPT);
    expect(answer.headers.get('content-type')).to.equal('text/javascript; charset=utf-8');
    expect(answer.headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
  });

  for (const [accepted, coding] of [
    ['br, gzip', 'br'],
    ['gzip, deflate, br;q=0.5', 'br'],
    ['gzip', 'gzip'],
    ['GZIP;q=1', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0, gzip;q=0', null],
    ['zstd', null],
    ['identity', null],
  ] as const)
    it(`is sent as ${coding ?? 'it is'} to a client that accepts ${accepted}`, async () => {
      const { headers, body } = await raw('/ui/assets/index-abc123.js', { 'accept-encoding': accepted });
      expect(headers['content-encoding'] ?? null).to.equal(coding);
      expect(headers['vary']).to.equal('Accept-Encoding');
      const plain = coding === 'br' ? brotliDecompressSync(body) : coding === 'gzip' ? gunzipSync(body) : body;
      expect(plain.toString()).to.equal(SCRIPT);
    });

  it('a file that is known is not sent again', async () => {
    const tag = (await get('/ui')).headers.get('etag') ?? '';
    for (const header of [tag, `W/${tag}`, `"x", ${tag}`, '*']) {
      const answer = await get('/ui', { 'if-none-match': header });
      expect(answer.status, header).to.equal(304);
      expect(await answer.text()).to.equal('');
    }
    expect((await get('/ui', { 'if-none-match': '"x"' })).status).to.equal(200);
  });

  it('HEAD has the headers alone', async () => {
    const answer = await get('/ui', {}, 'HEAD');
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('content-length')).to.equal(String(INDEX.length));
    expect(await answer.text()).to.equal('');
  });

  it('nothing but GET and HEAD', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])
      for (const at of ['/ui', '/ui/assets/index-abc123.js']) expect((await get(at, {}, method)).status, method).to.equal(405);
  });

  for (const at of [
    '/ui/assets/gone-abc.js',
    '/ui/assets/x',
    '/ui/notes.txt',
    '/ui/assets/index-abc123.js.br',
    '/ui/favicon.ico',
    '/ui/../secret.txt',
    '/ui/..%2fsecret.txt',
    '/ui/assets/..%2f..%2f..%2fsecret.txt',
    '/ui/assets/..%5c..%5csecret.txt',
    '/ui/%2e%2e/secret.txt',
    '/ui//../secret.txt',
    '/ui/assets/%00.js',
    '/ui/__proto__.js',
  ])
    it(`${at} leads nowhere`, async () => {
      const { status, body } = await raw(at);
      expect(status).to.equal(404);
      expect(body.toString()).to.not.equal('secret');
    });

  it('names of properties are no files', async () => {
    for (const at of ['/ui/__proto__', '/ui/constructor', '/ui/toString']) expect(await (await get(at)).text()).to.equal(INDEX);
  });

  it('every answer forbids what is not of this host, also a 404', async () => {
    for (const at of ['/ui', '/ui/assets/index-abc123.js', '/ui/assets/gone.js']) {
      const { headers } = await get(at);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).to.match(/^default-src 'self';/);
      expect(policy).to.contain("frame-ancestors 'none'").and.contain("base-uri 'none'");
      expect(policy).to.not.match(/unsafe-|\*|https?:|data:|blob:/);
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
      expect(headers.get('referrer-policy')).to.equal('no-referrer');
    }
  });

  for (const at of ['/ui/api', '/ui/api/', '/ui/api/index.html', '/ui/api/?section=logs'])
    it(`${at} is the description's page, whose policy allows what Redoc needs, and no other page has that`, async () => {
      const answer = await get(at);
      expect(await answer.text()).to.equal(REFERENCE);
      const policy = answer.headers.get('content-security-policy') ?? '';
      expect(policy).to.match(/^default-src 'self';/);
      expect(policy).to.contain("require-trusted-types-for 'script'").and.contain('trusted-types default dompurify');
      expect(policy).to.not.match(/unsafe-|\*|https?:|blob:|script-src/);
      expect((await get('/ui/apix')).headers.get('content-security-policy')).to.contain("trusted-types 'none'");
    });

  it('there are none where they are not built', () => expect(uiEndpoints(path.join(folder, 'absent'))).to.deep.equal([]));
});

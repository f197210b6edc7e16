import { expect } from 'chai';
import { pino } from 'pino';
import { health, type Endpoint } from '../../../api/http/endpoint.ts';
import { backpressure, HttpError, storeUnavailable } from '../../../pipeline/core/errors.ts';
import { FakeKeyStore } from '../../fakes/key-store.ts';
import { startHost } from '../../fakes/test-host.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const answers = (path: string, change: Partial<Endpoint>): Endpoint => ({
  methods: ['GET'],
  path,
  errors: 'query',
  access: { plane: 'app', scope: 'read' },
  handle: (exchange) => Promise.resolve({ status: 200, body: { params: exchange.params, tenant: exchange.principal.tenantId } }),
  ...change,
});
const throws = (path: string, errors: Endpoint['errors'], error: () => unknown): Endpoint =>
  answers(path, {
    errors,
    access: null,
    handle: () => {
      throw error();
    },
  });

const ENDPOINTS: readonly Endpoint[] = [
  health,
  answers('/api/v1/tenants/{tenant_id}/thing', {}),
  answers('/api/v1/tenants/{tenant_id}/thing', { methods: ['POST'], access: { plane: 'app', scope: 'write' } }),
  answers('/api/v1/tenants/:tenant_id/alerts/:alert_id', {}),
  answers('/v1/logs', { methods: ['POST'], errors: 'ingest', access: { plane: 'ingest', scope: 'ingest' } }),
  answers('/v1/metrics', { methods: ['POST'], errors: 'metrics', access: { plane: 'app', scope: 'ingest' } }),
  answers('/_bulk', { methods: ['POST', 'PUT'], errors: 'ingest', access: { plane: 'ingest', scope: 'ingest' } }),
  answers('/insert/elasticsearch/{index}/_bulk', {
    methods: ['POST', 'PUT'],
    errors: 'ingest',
    access: { plane: 'ingest', scope: 'ingest' },
    answerHeaders: { 'X-Extra': 'yes' },
  }),
  answers('/files/*', {
    access: null,
    handle: (exchange) =>
      Promise.resolve({ status: 200, headers: { 'Content-Type': 'text/css' }, body: `rest ${exchange.params['rest'] ?? ''}` }),
  }),
  answers('/empty', { access: null, methods: ['GET', 'POST'], handle: () => Promise.resolve({ status: 202 }) }),
  answers('/nothing', { access: null, handle: () => Promise.resolve({ status: 204 }) }),
  answers('/bytes', {
    access: null,
    handle: () => Promise.resolve({ status: 200, headers: { 'Content-Type': 'application/x-protobuf' }, body: Buffer.from([0, 255]) }),
  }),
  throws('/throws/plain', 'query', () => new Error('secret database password')),
  throws('/throws/not-an-error', 'ingest', () => 'text'),
  throws('/throws/metrics', 'metrics', () => new TypeError('x')),
  throws('/throws/429', 'ingest', () => backpressure()),
  throws('/throws/503', 'query', () => storeUnavailable()),
  throws('/throws/gate', 'metrics', () => new HttpError(503, 'gate', 'Here metrics ingest is not enabled.')),
];

describe('a public host', () => {
  const logged: string[] = [];
  const keys = new FakeKeyStore({
    all: { tenantId: 3 },
    reader: { tenantId: 3, scopes: new Set(['read']) },
    demo: { tenantId: 3, demo: true },
  });
  let host: Awaited<ReturnType<typeof startHost>>;
  before(async () => {
    host = await startHost({
      endpoints: ENDPOINTS,
      keys,
      corsOrigins: ['https://ui.example'],
      log: pino({ level: 'info' }, { write: (line: string) => logged.push(line) }),
    });
  });
  after(() => host.stop());

  async function ask(
    method: string,
    path: string,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; headers: Headers; text: string; json: () => Record<string, unknown> }> {
    const response = await fetch(host.url + path, { method, headers });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) as Record<string, unknown> };
  }
  const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });

  it('GET /health needs no key and says ok', async () => {
    const answer = await ask('GET', '/health');
    expect(answer.status).to.equal(200);
    expect(answer.text).to.equal('{"status":"ok"}');
    expect(answer.headers.get('content-type')).to.equal('application/json; charset=utf-8');
    expect(answer.headers.get('x-request-id')).to.match(UUID);
    expect(answer.headers.get('x-content-type-options')).to.equal('nosniff');
    expect((await ask('GET', '/health/')).status).to.equal(200);
    expect((await ask('GET', '/health?x=1')).status).to.equal(200);
  });

  const UNKNOWN = [
    '/',
    '/nowhere',
    '/healthz',
    '/HEALTH',
    '//health',
    '/health/x',
    '/api/v1/tenants/3',
    '/api/v1/tenants//thing',
    '/api/v1/tenants/%zz/thing',
    '/insert/elasticsearch/_search',
    '/__proto__',
    '/constructor',
  ];
  for (const path of UNKNOWN) {
    it(`${path}: 404, with a key or without`, async () => {
      for (const headers of [{}, bearer('all'), bearer('wrong')]) {
        const answer = await ask('GET', path, headers);
        expect(answer.status).to.equal(404);
        expect(answer.json()).to.deep.equal({ detail: 'No such path.', request_id: answer.headers.get('x-request-id') });
      }
    });
  }

  const WRONG_METHOD: readonly (readonly [string, string, string])[] = [
    ['POST', '/health', 'GET, HEAD'],
    ['DELETE', '/api/v1/tenants/3/thing', 'GET, POST, HEAD'],
    ['GET', '/v1/logs', 'POST'],
    ['GET', '/_bulk', 'POST, PUT'],
    ['OPTIONS', '/v1/logs', 'POST'],
    ['PATCH', '/v1/metrics', 'POST'],
    ['PROPFIND', '/health', 'GET, HEAD'],
  ];
  for (const [method, path, allow] of WRONG_METHOD) {
    it(`${method} ${path}: 405 without a key, Allow: ${allow}`, async () => {
      const answer = await ask(method, path);
      expect(answer.status).to.equal(405);
      expect(answer.headers.get('allow')).to.equal(allow);
      expect(answer.headers.get('x-request-id')).to.match(UUID);
      const body = answer.json();
      if (path === '/v1/metrics') expect(body).to.have.all.keys('detail');
      else if (path === '/v1/logs' || path === '/_bulk') expect(body).to.include({ error: 'method_not_allowed' });
      else expect(body).to.have.all.keys('detail', 'request_id');
    });
  }

  describe('checks in their order', () => {
    const thing = '/api/v1/tenants/3/thing';
    const rows: readonly (readonly [string, string, string, Record<string, string>, number])[] = [
      ['no credential', 'GET', thing, {}, 401],
      ['no credential before a bad tenant', 'GET', '/api/v1/tenants/abc/thing', {}, 401],
      ['unknown key before a bad tenant', 'GET', '/api/v1/tenants/abc/thing', bearer('nope'), 403],
      ['a tenant that is no integer', 'GET', '/api/v1/tenants/abc/thing', bearer('all'), 400],
      ['tenant 0', 'GET', '/api/v1/tenants/0/thing', bearer('all'), 400],
      ["another tenant's", 'GET', '/api/v1/tenants/4/thing', bearer('all'), 403],
      ['a missing scope', 'POST', thing, bearer('reader'), 403],
      ['the demo tenant', 'POST', thing, bearer('demo'), 403],
      ['the demo tenant reads', 'GET', thing, bearer('demo'), 200],
      ['all is well', 'GET', thing, bearer('all'), 200],
      ['key by query on the app plane', 'GET', `${thing}?api_key=all`, {}, 200],
      ['no key by query on the ingest plane', 'POST', '/v1/logs?api_key=all', {}, 401],
      ['lower-case bearer on the ingest plane', 'POST', '/v1/logs', { authorization: 'bearer all' }, 401],
      ['lower-case bearer on the app plane', 'GET', thing, { authorization: 'bearer all' }, 200],
      ['a read key ingests', 'POST', '/v1/logs', bearer('reader'), 403],
      ['an ingest key ingests', 'POST', '/v1/logs', bearer('all'), 200],
    ];
    for (const [name, method, path, headers, status] of rows) {
      it(`${name}: ${status}`, async () => {
        const answer = await ask(method, path, headers);
        expect(answer.status, answer.text).to.equal(status);
        expect(answer.headers.get('x-request-id')).to.match(UUID);
        expect(answer.headers.has('www-authenticate')).to.equal(status === 401);
      });
    }

    it('auth unavailable: 503 with Retry-After, but 401 and 404 stay', async () => {
      keys.down = true;
      try {
        const answer = await ask('POST', '/v1/logs', bearer('all'));
        expect(answer.status).to.equal(503);
        expect(answer.headers.get('retry-after')).to.equal('5');
        expect(answer.json()).to.include({ error: 'auth_unavailable' });
        expect(answer.json()['detail']).to.contain('authentication');
        expect((await ask('POST', '/v1/logs')).status).to.equal(401);
        expect((await ask('POST', '/nowhere', bearer('all'))).status).to.equal(404);
        expect((await ask('GET', '/health')).status).to.equal(200);
      } finally {
        keys.down = false;
      }
    });
  });

  it('decodes parameters, and passes on both notations', async () => {
    expect((await ask('GET', '/api/v1/tenants/3/alerts/a%2Fb%20c', bearer('all'))).json()['params']).to.deep.equal({
      tenant_id: '3',
      alert_id: 'a/b c',
    });
    expect((await ask('GET', '/files/a/b.css')).text).to.equal('rest a/b.css');
  });

  describe('shapes of errors', () => {
    it('the three renderers', async () => {
      const ingest = await ask('POST', '/v1/logs');
      expect(ingest.json()).to.deep.equal({
        error: 'unauthorized',
        detail:
          'No API key was found: send `Authorization: Bearer KEY` (case-sensitive), `Authorization: Basic` with the key as the user name, or `X-API-Key: KEY`.',
        request_id: ingest.headers.get('x-request-id'),
      });
      const metrics = await ask('POST', '/v1/metrics');
      expect(metrics.json()).to.deep.equal({
        detail:
          'No API key was found: send `Authorization: Bearer KEY`, `Token KEY` or `Basic` with the key as the user name, or `X-API-Key: KEY`.',
      });
      expect(metrics.headers.get('x-request-id')).to.match(UUID);
      const query = await ask('GET', '/api/v1/tenants/3/thing');
      expect(query.json()).to.deep.equal({
        detail:
          'No API key was found: send `Authorization: Bearer KEY`, `Token KEY` or `Basic` with the key as the user name, or `X-API-Key: KEY`.',
        request_id: query.headers.get('x-request-id'),
      });
    });
    it('429 carries retry_after and Retry-After', async () => {
      const answer = await ask('GET', '/throws/429');
      expect(answer.status).to.equal(429);
      expect(answer.headers.get('retry-after')).to.equal('5');
      expect(answer.json()).to.include({ error: 'backpressure', retry_after: 5 });
    });
    it('a transient 503 carries Retry-After, a gate does not', async () => {
      expect((await ask('GET', '/throws/503')).headers.get('retry-after')).to.equal('5');
      const gate = await ask('GET', '/throws/gate');
      expect(gate.headers.has('retry-after')).to.equal(false);
      expect(gate.json()).to.deep.equal({ detail: 'Here metrics ingest is not enabled.' });
    });
    it('an unexpected error: 500 with a neutral sentence, the reason in the log', async () => {
      logged.length = 0;
      const answer = await ask('GET', '/throws/plain', { 'x-request-id': 'find-me' });
      expect(answer.status).to.equal(500);
      expect(answer.text).not.to.contain('password');
      expect(answer.json()).to.have.all.keys('detail', 'request_id');
      expect(logged.join('')).to.contain('secret database password').and.to.contain('find-me').and.to.contain('host.test.ts');
      expect((await ask('GET', '/throws/not-an-error')).json()).to.include({ error: 'internal_error' });
      expect((await ask('GET', '/throws/metrics')).json()).to.have.all.keys('detail');
    });
  });

  describe('request ids', () => {
    for (const id of ['abc', 'A-Z_0.9', 'x'.repeat(128)]) {
      it(`keeps the client's ${id.slice(0, 20)} on success and error`, async () => {
        expect((await ask('GET', '/health', { 'x-request-id': id })).headers.get('x-request-id')).to.equal(id);
        const error = await ask('POST', '/v1/logs', { 'x-request-id': id });
        expect(error.headers.get('x-request-id')).to.equal(id);
        expect(error.json()).to.include({ request_id: id });
      });
    }
    for (const id of ['', 'x'.repeat(129), 'a b', 'a/b', '<script>', 'a,b', 'é']) {
      it(`replaces ${JSON.stringify(id).slice(0, 20)}`, async () => {
        expect((await ask('GET', '/nowhere', { 'x-request-id': id })).headers.get('x-request-id')).to.match(UUID);
      });
    }
  });

  describe("Elasticsearch's paths", () => {
    const rows: readonly (readonly [string, string, Record<string, string>, number])[] = [
      ['POST', '/_bulk', bearer('all'), 200],
      ['PUT', '/_bulk', bearer('all'), 200],
      ['POST', '/_bulk', {}, 401],
      ['POST', '/_bulk', bearer('no'), 403],
      ['GET', '/_bulk', {}, 405],
      ['POST', '/insert/elasticsearch/web/_bulk', {}, 401],
      ['POST', '/insert/elasticsearch/web/_bulk', bearer('all'), 200],
      ['GET', '/insert/elasticsearch/_nothing', {}, 404],
    ];
    for (const [method, path, headers, status] of rows) {
      it(`${method} ${path} ${status}: product header and plain media type`, async () => {
        const answer = await ask(method, path, headers);
        expect(answer.status).to.equal(status);
        expect(answer.headers.get('x-elastic-product')).to.equal('Elasticsearch');
        expect(answer.headers.get('content-type')).to.equal('application/json');
        if (path.includes('/web/')) expect(answer.headers.get('x-extra')).to.equal('yes');
      });
    }
    it('others have neither', async () => {
      const answer = await ask('POST', '/v1/logs', bearer('all'));
      expect(answer.headers.has('x-elastic-product')).to.equal(false);
      expect(answer.headers.get('content-type')).to.equal('application/json; charset=utf-8');
    });
  });

  it('empty answers, bytes, HEAD', async () => {
    const empty = await ask('GET', '/empty');
    expect(empty).to.include({ status: 202, text: '' });
    expect(empty.headers.get('content-length')).to.equal('0');
    expect(empty.headers.has('content-type')).to.equal(false);
    const nothing = await ask('GET', '/nothing');
    expect(nothing.status).to.equal(204);
    expect(nothing.headers.has('content-length')).to.equal(false);
    const bytes = await fetch(`${host.url}/bytes`);
    expect(Buffer.from(await bytes.arrayBuffer())).to.deep.equal(Buffer.from([0, 255]));
    expect(bytes.headers.get('content-type')).to.equal('application/x-protobuf');
    const head = await ask('HEAD', '/health');
    expect(head).to.include({ status: 200, text: '' });
    expect(head.headers.get('content-length')).to.equal('15');
    expect((await ask('HEAD', '/nowhere')).status).to.equal(404);
    expect((await ask('HEAD', '/v1/logs')).status).to.equal(405);
  });

  describe('CORS', () => {
    const preflight = (origin: string): Record<string, string> => ({
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-api-key',
    });
    it('answers a preflight without a key', async () => {
      const answer = await ask('OPTIONS', '/v1/logs', preflight('https://ui.example'));
      expect(answer.status).to.equal(204);
      expect(answer.headers.get('access-control-allow-origin')).to.equal('https://ui.example');
      expect(answer.headers.get('access-control-allow-methods')).to.equal('POST');
      expect(answer.headers.get('access-control-allow-headers')).to.contain('X-API-Key').and.to.contain('Authorization');
      expect(answer.headers.get('vary')).to.equal('Origin');
      expect(answer.headers.has('access-control-allow-credentials')).to.equal(false);
    });
    it('gives another origin no leave', async () => {
      for (const origin of ['https://evil.example', 'null', 'https://ui.example.evil', 'http://ui.example']) {
        const answer = await ask('OPTIONS', '/v1/logs', preflight(origin));
        expect(answer.status).to.equal(204);
        expect(answer.headers.has('access-control-allow-origin')).to.equal(false);
        expect(answer.headers.has('access-control-allow-methods')).to.equal(false);
      }
    });
    it('marks answers and errors for an allowed origin', async () => {
      for (const path of ['/health', '/nowhere', '/v1/logs']) {
        const answer = await ask('GET', path, { origin: 'https://ui.example' });
        expect(answer.headers.get('access-control-allow-origin')).to.equal('https://ui.example');
        expect(answer.headers.get('access-control-expose-headers')).to.contain('X-Request-Id');
      }
      expect((await ask('GET', '/health', { origin: 'https://evil.example' })).headers.has('access-control-allow-origin')).to.equal(false);
      expect((await ask('OPTIONS', '/nowhere', preflight('https://ui.example'))).status).to.equal(404);
    });
  });

  it('refuses to route a method and path twice', async () => {
    let message = '';
    await startHost({ endpoints: [health, health] }).catch((error: unknown) => {
      message = (error as Error).message;
    });
    expect(message).to.match(/^BUG: GET \/health is routed twice/);
  });
});

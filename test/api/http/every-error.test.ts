import { expect } from 'chai';
import { gzipSync } from 'node:zlib';
import { gatedEndpoints } from '../../fakes/gated-endpoints.ts';
import { logBody } from '../../../api/http/body.ts';
import { health, type Endpoint } from '../../../api/http/endpoint.ts';
import { authUnavailable, backpressure, HttpError, queryTimeout, storeUnavailable } from '../../../pipeline/core/errors.ts';
import { FakeKeyStore } from '../../fakes/key-store.ts';
import { RawClient } from '../../fakes/raw-client.ts';
import { startHost } from '../../fakes/test-host.ts';

const CAP = 1000;

const read: Endpoint = {
  methods: ['POST'],
  path: '/logs',
  errors: 'ingest',
  access: { plane: 'ingest', scope: 'ingest' },
  handle: async (exchange) => ({ status: 200, body: { length: (await exchange.bytes(logBody(CAP))).length } }),
};
const json: Endpoint = {
  methods: ['POST'],
  path: '/api/v1/tenants/{tenant_id}/json',
  errors: 'query',
  access: { plane: 'app', scope: 'read' },
  handle: async (exchange) => ({ status: 200, body: { got: await exchange.body() } }),
};
const throws = (name: string, error: () => unknown): Endpoint => ({
  methods: ['GET'],
  path: `/throws/${name}`,
  errors: 'ingest',
  access: null,
  handle: () => {
    throw error();
  },
});
const ENDPOINTS: readonly Endpoint[] = [
  health,
  read,
  json,
  ...gatedEndpoints,
  { ...read, path: '/v1/metrics', errors: 'metrics', access: { plane: 'app', scope: 'ingest' } },
  throws('429', () => backpressure()),
  throws('500', () => new Error('a bug')),
  throws('503', () => storeUnavailable()),
  throws('503-auth', () => authUnavailable()),
  throws('504', () => queryTimeout('Too slow.')),
  throws('502', () => new HttpError(502, 'x', 'X.')),
];

const GZIP_BOMB = gzipSync(Buffer.alloc(100 * CAP));
const WEBSOCKET = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: x'];
const KEY = 'X-API-Key: all';
const length = (body: string | Buffer): string => `Content-Length: ${String(body.length)}`;

/** Name, request line, headers, body, and the status that is to come. */
type Row = readonly [string, string, readonly string[], string | Buffer, number];
const ROWS: readonly Row[] = [
  ['a corrupt body', 'POST /logs', [KEY, 'Content-Encoding: gzip', 'Content-Length: 3'], 'abc', 400],
  ['an encoding that is not supported', 'POST /logs', [KEY, 'Content-Encoding: br', 'Content-Length: 3'], 'abc', 400],
  ['a body that is no JSON', 'POST /api/v1/tenants/1/json', [KEY, 'Content-Length: 1'], '{', 400],
  ['a tenant that is no number', 'POST /api/v1/tenants/x/json', [KEY], '', 400],
  ['no Host', 'GET /health', ['no host'], '', 400],
  ['no key, ingest', 'POST /logs', ['Content-Length: 3'], 'abc', 401],
  ['no key, metrics', 'POST /v1/metrics', [], '', 401],
  ['no key, query', 'POST /api/v1/tenants/1/json', [], '', 401],
  ['an unknown key', 'POST /logs', ['X-API-Key: nobody'], '', 403],
  ['a missing scope', 'POST /logs', ['X-API-Key: reader'], '', 403],
  ["another tenant's path", 'POST /api/v1/tenants/2/json', [KEY], '', 403],
  ['a gate that is a 403', 'POST /api/v1/account/projects', [KEY], '', 403],
  ['no such path', 'GET /nowhere', [], '', 404],
  ['no such path, with a long body', 'POST /nowhere', ['Content-Length: 2000000'], Buffer.alloc(50_000), 404],
  ['a refused upgrade', 'GET /ws/livetail/1', WEBSOCKET, '', 404],
  ['a wrong method', 'GET /logs', [], '', 405],
  ['a wrong method, metrics', 'DELETE /v1/metrics', [], '', 405],
  ['CONNECT', 'CONNECT x:1', [], '', 405],
  ['a request that is too slow', 'POST /logs', [KEY, 'Content-Length: 10'], 'abc', 408],
  ['a body above the cap, plain text', 'POST /logs', [KEY, `Content-Length: ${String(CAP + 1)}`], Buffer.alloc(CAP + 1), 413],
  ['a compressed body above the cap, JSON', 'POST /logs', [KEY, 'Content-Encoding: gzip', length(GZIP_BOMB)], GZIP_BOMB, 413],
  ['a JSON body above 1 MiB', 'POST /api/v1/tenants/1/json', [KEY, 'Content-Length: 1048577'], '', 413],
  ['chunk extensions without end', 'POST /logs', [KEY, 'Transfer-Encoding: chunked'], `1;${'a'.repeat(20_000)}\r\nx\r\n0\r\n\r\n`, 413],
  ['an expectation that it does not know', 'POST /logs', [KEY, 'Expect: 200-ok', 'Content-Length: 0'], '', 417],
  ['pressure', 'GET /throws/429', [], '', 429],
  ['headers of 70 KB', 'GET /health', [`X-A: ${'a'.repeat(70_000)}`], '', 431],
  ['trailers of 70 KB', 'POST /logs', [KEY, 'Transfer-Encoding: chunked'], `0\r\nX-A: ${'a'.repeat(70_000)}\r\n\r\n`, 431],
  ['a path of 70 KB', `GET /${'a'.repeat(70_000)}`, [], '', 431],
  ['a bug', 'GET /throws/500', [], '', 500],
  ['another status', 'GET /throws/502', [], '', 502],
  ['the store is gone', 'GET /throws/503', [], '', 503],
  ['the keys were never read', 'GET /throws/503-auth', [], '', 503],
  ['a gate', 'POST /api/v1/account/projects', [KEY], '', 403],
  ['a query that is too slow', 'GET /throws/504', [], '', 504],
  ['two lengths', 'POST /logs', ['Content-Length: 3', 'Content-Length: 4'], 'abcd', 400],
  ['a length beside chunks', 'POST /logs', ['Content-Length: 3', 'Transfer-Encoding: chunked'], '0\r\n\r\n', 400],
  ['a chunk that is none', 'POST /logs', [KEY, 'Transfer-Encoding: chunked'], 'zz\r\n', 400],
  ['a header without a colon', 'GET /health', ['nothing'], '', 400],
  ['HTTP/2 at once', 'PRI *', [], '', 400],
];

const bytesOf = ([, line, headers, body]: Row, id: string | null): Buffer => {
  const host = headers.includes('no host') ? [] : ['Host: x'];
  const lines = [...(id === null ? [] : [`X-Request-Id: ${id}`]), ...host, ...headers.filter((header) => header !== 'no host')];
  const version = line.startsWith('PRI') ? 'HTTP/2.0' : 'HTTP/1.1';
  return Buffer.concat([Buffer.from(`${line} ${version}\r\n${lines.join('\r\n')}\r\n\r\n`), Buffer.from(body)]);
};
/** Before the headers were read there is no request whose id could be kept. */
const HEADLESS = new Set([
  'headers of 70 KB',
  'a path of 70 KB',
  'two lengths',
  'a length beside chunks',
  'a header without a colon',
  'HTTP/2 at once',
]);

describe('every error carries a request id and is not sniffed', () => {
  let host: Awaited<ReturnType<typeof startHost>>;
  /** One that does not wait long for what does not come. */
  let impatient: typeof host;
  before(async () => {
    const options = { endpoints: ENDPOINTS, keys: new FakeKeyStore({ all: {}, reader: { scopes: new Set(['read']) } }) };
    host = await startHost(options);
    impatient = await startHost({
      ...options,
      limits: { headersTimeout: 1000, requestTimeout: 1000, connectionsCheckingInterval: 50 },
    });
  });
  after(() => Promise.all([host.stop(), impatient.stop()]));

  for (const row of ROWS) {
    const [name, , , , status] = row;
    it(`${String(status)}: ${name}`, async () => {
      for (const id of [null, 'kept-from_the.Client']) {
        const client = new RawClient((status === 408 ? impatient : host).port).send(bytesOf(row, id));
        const answer = await client.answer();
        client.destroy();
        expect(answer.status).to.equal(status);
        expect(answer.headers['x-content-type-options']).to.equal('nosniff');
        const sent = answer.headers['x-request-id'];
        if (id === null || HEADLESS.has(name)) expect(sent).to.match(/^[0-9a-f-]{36}$/);
        else expect(sent).to.equal(id);
        if (answer.headers['content-type']?.startsWith('text/plain') === true) continue;
        const body = JSON.parse(answer.body) as Record<string, unknown>;
        expect(body['detail']).to.be.a('string').and.not.equal('');
        expect(body).not.to.have.property('stack');
        if ('request_id' in body) expect(body['request_id']).to.equal(sent);
        else expect(Object.keys(body)).to.deep.equal(['detail']);
        expect('retry-after' in answer.headers).to.equal(status === 429 || (status === 503 && !name.startsWith('a gate')));
      }
    });
  }

  it('covers the statuses that a client can be answered', () => {
    const statuses = [400, 401, 403, 404, 405, 408, 413, 417, 429, 431, 500, 503, 504];
    const covered = new Set(ROWS.map(([, , , , status]) => status));
    expect(statuses.filter((status) => !covered.has(status))).to.deep.equal([]);
  });
});

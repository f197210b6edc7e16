import { expect } from 'chai';
import { rejectionsRoute } from '../../../api/admin/rejections.ts';
import { gatedEndpoints } from '../../fakes/gated-endpoints.ts';
import { authenticate, authorize } from '../../../api/auth/authenticate.ts';
import { extractCredential } from '../../../api/auth/forms.ts';
import { appEndpoint, type Endpoint } from '../../../api/http/endpoint.ts';
import { appHostEndpoints, ingestHostEndpoints } from '../../../api/http/host-lists.ts';
import type { Scope } from '../../../api/tenants/principal.ts';
import { RouteTable } from '../../../api/http/route-table.ts';
import { ingestEndpoints } from '../../../api/ingest/ingest-endpoints.ts';
import { RejectionLog } from '../../../api/ingest/rejection-log.ts';
import { createQueryRoutes } from '../../../api/search/routes.ts';
import type { QueryEngine } from '../../../api/query/engine.ts';
import { QueryRuntime } from '../../../api/query/runtime.ts';
import { createSelectEndpoints } from '../../../api/select/endpoints.ts';
import { describedEndpoints } from '../../../main/description.ts';
import type { Config } from '../../../pipeline/core/config.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';
import { Metrics } from '../../../pipeline/core/metrics.ts';
import { normalizers, replayNormalizers, sampleNormalizers, spanNormalizers } from '../../../pipeline/normalizers/index.ts';
import { fakePrincipal, FakeKeyStore } from '../../fakes/key-store.ts';
import { FakeLogPublisher } from '../../fakes/log-publisher.ts';
import { startHost } from '../../fakes/test-host.ts';

type HostName = 'app' | 'ingest';
type Plane = 'ingest' | 'app';

/** The real lists of both hosts; nothing of what they answer matters here. */
function endpointLists(): Readonly<Record<HostName, readonly Endpoint[]>> {
  const ingest = ingestEndpoints({
    normalizers: [...normalizers.members, ...spanNormalizers.members, ...sampleNormalizers.members, ...replayNormalizers.members],
    publisher: new FakeLogPublisher(),
    limits: [],
    maxBodyBytes: 1000,
    metrics: new Metrics('test'),
  });
  const limits = { queryTimeoutSeconds: 30 } as Config['limits'];
  const engine: QueryEngine = { run: () => Promise.reject(new Error('not reached')) };
  const runtime = new QueryRuntime({ engine, limits });
  const queries = createQueryRoutes(runtime);
  const routes = [...queries, rejectionsRoute({ log: new RejectionLog() })];
  const app = [...routes.map((route) => appEndpoint(route)), ...createSelectEndpoints(runtime), ...gatedEndpoints];
  return { app: appHostEndpoints(ingest, app), ingest: ingestHostEndpoints(ingest, app) };
}

// What follows is the interface's section 5, written down a second time.

const FORWARDED = ['/v1/metrics', '/api/v1/otel/v1/metrics', '/api/v1/write', '/write', '/api/v2/write', '/v1/rum/replay'];
const INGEST = [
  ...['/api/v1/ingest', '/v1/logs', '/v1/traces', '/_bulk', '/insert/elasticsearch/_bulk', '/loki/api/v1/push', '/api/v1/syslog'],
  ...['/api/v1/fluent', '/api/v1/fluentd', '/api/v1/cloudwatch', '/services/collector/event', '/services/collector/raw'],
  ...['/gelf', '/api/v1/gelf', '/api/v1/drain', '/api/v1/drain/vercel', '/api/v1/drain/heroku'],
];
const OF_TENANT = '/api/v1/tenants/1';
const QUERIES: readonly (readonly [method: string, path: string, scope: Scope])[] = [
  ['POST', `${OF_TENANT}/search`, 'read'],
  ...['hits', 'facets', 'streams', 'alerts', 'alerts/1', 'patterns'].map((name) => ['GET', `${OF_TENANT}/${name}`, 'read'] as const),
  ['POST', `${OF_TENANT}/alerts/1/resolve`, 'write'],
  ['POST', '/api/v1/account/projects', 'write'],
];
const QUERY_KEY = ['/api/v1/drain', '/api/v1/drain/vercel', '/api/v1/drain/heroku', '/gelf', '/api/v1/gelf'];
const APP_ONLY = ['/api/v1/tenants/', '/api/v1/account/', '/select/', '/ws/', '/ui/', '/openapi.json'];
const isAppOnly = (path: string): boolean => APP_ONLY.some((prefix) => path.startsWith(prefix));
const planeOf = (path: string): Plane => (isAppOnly(path) || FORWARDED.includes(path) ? 'app' : 'ingest');
const scopeOf = (path: string): Scope =>
  planeOf(path) === 'ingest' || FORWARDED.includes(path) ? 'ingest' : /\/(?:resolve|projects)$/.test(path) ? 'write' : 'read';

type Sent = { readonly headers: Readonly<Record<string, string>>; readonly query: string };
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const authorization = (value: string): Sent => ({ headers: { authorization: value }, query: '' });

/** Each form: how it carries a key, and on which paths it is one. */
const FORMS: readonly (readonly [string, (key: string) => Sent, (path: string) => boolean])[] = [
  ['nothing', () => ({ headers: {}, query: '' }), () => false],
  ['Bearer', (key) => authorization(`Bearer ${key}`), () => true],
  ['Bearer with blanks', (key) => authorization(`Bearer   ${key}  `), () => true],
  ['bearer', (key) => authorization(`bearer ${key}`), (path) => planeOf(path) === 'app'],
  ['BEARER', (key) => authorization(`BEARER ${key}`), (path) => planeOf(path) === 'app'],
  ['Bearer, empty', () => authorization('Bearer '), () => false],
  ['Bearer alone', () => authorization('Bearer'), () => false],
  ['Token', (key) => authorization(`Token ${key}`), (path) => planeOf(path) === 'app'],
  ['token', (key) => authorization(`token ${key}`), (path) => planeOf(path) === 'app'],
  ['Splunk', (key) => authorization(`Splunk ${key}`), () => false],
  ['no scheme', (key) => authorization(key), () => false],
  ['Basic', (key) => authorization(`Basic ${base64(`${key}:`)}`), () => true],
  ['Basic with a password', (key) => authorization(`Basic ${base64(`${key}:x`)}`), () => true],
  ['Basic with blanks', (key) => authorization(`Basic ${base64(` ${key} :`)}`), () => true],
  ['basic', (key) => authorization(`basic ${base64(`${key}:`)}`), (path) => planeOf(path) === 'app'],
  ['Basic without a colon', (key) => authorization(`Basic ${base64(key)}`), () => false],
  ['Basic, no base64', (key) => authorization(`Basic ${key}:`), () => false],
  ['Basic, cut off', (key) => authorization(`Basic ${base64(`${key}:`).slice(0, -1)}`), () => false],
  ['Basic, key as password', (key) => authorization(`Basic ${base64(`:${key}`)}`), () => false],
  ['X-API-Key', (key) => ({ headers: { 'x-api-key': key }, query: '' }), () => true],
  ['X-API-Key, empty', () => ({ headers: { 'x-api-key': ' ' }, query: '' }), () => false],
  ['api_key', (key) => ({ headers: {}, query: `api_key=${key}` }), (path) => planeOf(path) === 'app' || QUERY_KEY.includes(path)],
  ['api_key, empty', () => ({ headers: {}, query: 'api_key=' }), () => false],
  ['token in the query', (key) => ({ headers: {}, query: `token=${key}` }), () => false],
  [
    'X-Amz-Firehose-Access-Key',
    (key) => ({ headers: { 'x-amz-firehose-access-key': key }, query: '' }),
    (path) => path === '/api/v1/cloudwatch',
  ],
  ['DD-API-KEY', (key) => ({ headers: { 'dd-api-key': key }, query: '' }), () => false],
  ['a subprotocol', (key) => ({ headers: { 'sec-websocket-protocol': `logweir.bearer.${key}` }, query: '' }), () => false],
];

const NOW = Date.parse('2026-11-20T00:00:00Z');
const KEYS = new FakeKeyStore({
  own: {},
  'other-tenant': { tenantId: 2 },
  'read-only': { scopes: new Set(['read']) },
  'write-only': { scopes: new Set(['write']) },
  'ingest-only': { scopes: new Set(['ingest']) },
  'no-scope': { scopes: new Set() },
  demo: { demo: true },
});
KEYS.keys.set('expired', { principal: fakePrincipal(), expiresAt: NOW, tenantDisabled: false });
KEYS.keys.set('not-yet-expired', { principal: fakePrincipal(), expiresAt: NOW + 1, tenantDisabled: false });
KEYS.keys.set('disabled-tenant', { principal: fakePrincipal(), expiresAt: null, tenantDisabled: true });

/** Each key: whether it may, on a path of tenant 1 (or of no tenant) that needs a scope. */
const STATES: Readonly<Record<string, (path: string, scope: Scope) => boolean>> = {
  own: () => true,
  'other-tenant': (path) => !path.startsWith('/api/v1/tenants/'),
  'read-only': (_, scope) => scope === 'read',
  'write-only': (_, scope) => scope === 'write',
  'ingest-only': (_, scope) => scope === 'ingest',
  'no-scope': () => false,
  demo: (_, scope) => scope !== 'write',
  expired: () => false,
  'not-yet-expired': () => true,
  'disabled-tenant': () => false,
  'rotated-or-revoked': () => false,
};

type Form = (typeof FORMS)[number];
function expected(path: string, [, , isKey]: Form, state: string): number {
  if (!isKey(path)) return 401;
  return STATES[state]?.(path, scopeOf(path)) === true ? 200 : 403;
}

const pathOf = (template: string): string => template.replace(/\/:\w+|\/\{\w+\}/g, '/1').replace('*', 'x');

function actual(endpoint: Endpoint, path: string, { headers, query }: Sent): number {
  if (endpoint.access === null) return 200;
  const { plane, scope } = endpoint.access;
  const request = { path, header: (name: string) => headers[name]?.trim() ?? '', query: new URLSearchParams(query) };
  try {
    const principal = authenticate(extractCredential(request, plane), KEYS, NOW);
    authorize(principal, scope, path.startsWith('/api/v1/tenants/') ? '1' : undefined);
    return 200;
  } catch (error) {
    return (error as HttpError).status;
  }
}

describe('credentials: path × form × key', () => {
  const lists = endpointLists();

  for (const host of ['app', 'ingest'] as const) {
    for (const endpoint of lists[host].filter(({ path }) => path !== '/health')) {
      const path = pathOf(endpoint.path);
      it(`${endpoint.methods.join(', ')} ${endpoint.path} on the ${host} host`, () => {
        for (const form of FORMS) {
          for (const state of Object.keys(STATES))
            expect(actual(endpoint, path, form[1](state)), `${form[0]}, ${state}`).to.equal(expected(path, form, state));
        }
      });
    }
  }

  it('covers the planes: every path asks for a key, except /health', () => {
    for (const host of ['app', 'ingest'] as const)
      expect(lists[host].filter(({ access }) => access === null).map(({ path }) => path)).to.deep.equal(['/health']);
  });

  it('the ingest host has nothing that belongs to the app host alone, and everything else', () => {
    const paths = (host: HostName): string[] => lists[host].map(({ path }) => path);
    expect(paths('ingest').filter(isAppOnly)).to.deep.equal([]);
    expect(paths('ingest')).to.have.members(paths('app').filter((path) => !isAppOnly(path)));
    expect(paths('ingest')).to.include.members(FORWARDED);
  });

  it('every path that the interface names is on its plane, with its scope', () => {
    for (const [host, endpoints] of [
      ['app', describedEndpoints()],
      ['ingest', lists.ingest],
    ] as const) {
      const table = new RouteTable<Endpoint>();
      for (const endpoint of endpoints) table.add(endpoint.methods, endpoint.path, endpoint);
      const accessOf = (path: string, method: string): Endpoint['access'] | undefined => table.find(path)?.members.get(method)?.access;
      for (const path of [...INGEST, ...FORWARDED])
        expect(accessOf(path, 'POST'), `${path} on ${host}`).to.deep.equal({ plane: planeOf(path), scope: 'ingest' });
      for (const [method, path, scope] of QUERIES)
        expect(accessOf(path, method), `${path} on ${host}`).to.deep.equal(host === 'app' ? { plane: 'app', scope } : undefined);
    }
  });

  it('the ingest paths of VictoriaLogs are aliases on the ingest plane', () => {
    const table = new RouteTable<Endpoint>();
    for (const endpoint of lists.ingest) table.add(endpoint.methods, endpoint.path, endpoint);
    for (const path of ['jsonline', 'loki/api/v1/push', 'opentelemetry/v1/logs', 'splunk/services/collector/event'])
      expect(table.find(`/insert/${path}`)?.members.get('POST')?.access, path).to.deep.equal({ plane: 'ingest', scope: 'ingest' });
  });

  it('routes of administration are on no public host', () => {
    const paths = [...describedEndpoints(), ...lists.ingest].map(({ path }) => path);
    expect(paths.filter((path) => /^\/(?:admin|ready|metrics)\b/.test(path))).to.deep.equal([]);
  });

  it('what the interface puts on a plane is on it', () => {
    const table = new RouteTable<Endpoint>();
    for (const endpoint of lists.app) table.add(endpoint.methods, endpoint.path, endpoint);
    for (const path of [...FORWARDED, '/api/v1/account/projects', '/api/v1/tenants/1/search']) {
      const [endpoint] = [...(table.find(path)?.members.values() ?? [])];
      expect(endpoint?.access?.plane, path).to.equal('app');
    }
    for (const path of ['/api/v1/ingest', '/_bulk', '/insert/elasticsearch/_bulk']) {
      const [endpoint] = [...(table.find(path)?.members.values() ?? [])];
      expect(endpoint?.access, path).to.deep.equal({ plane: 'ingest', scope: 'ingest' });
    }
  });
});

describe('credentials over HTTP', () => {
  const hosts: Record<string, Awaited<ReturnType<typeof startHost>>> = {};
  const lists = endpointLists();
  before(async () => {
    KEYS.keys.delete('expired');
    for (const host of ['app', 'ingest'] as const) {
      const endpoints = lists[host].map((endpoint) => ({ ...endpoint, handle: () => Promise.resolve({ status: 200 }) }));
      hosts[host] = await startHost({ endpoints, keys: KEYS });
    }
  });
  after(() => Promise.all(Object.values(hosts).map((host) => host.stop())));

  async function status(host: HostName, method: string, path: string, { headers, query }: Sent): Promise<number> {
    const url = `${hosts[host]?.url ?? ''}${path}${query === '' ? '' : `?${query}`}`;
    const response = await fetch(url, { method, headers });
    await response.arrayBuffer();
    return response.status;
  }

  for (const host of ['app', 'ingest'] as const) {
    it(`the ${host} host does as the functions do`, async () => {
      const templates = [
        '/api/v1/ingest',
        '/_bulk',
        '/write',
        '/v1/rum/replay',
        '/api/v1/account/projects',
        '/api/v1/tenants/{tenant_id}/hits',
      ];
      for (const { path: template, methods } of lists[host].filter(({ path }) => templates.includes(path))) {
        const path = pathOf(template);
        for (const form of FORMS) {
          for (const state of ['own', 'read-only', 'rotated-or-revoked']) {
            const answer = await status(host, methods[0] ?? '', path, form[1](state));
            expect(answer, `${path}, ${form[0]}, ${state}`).to.equal(expected(path, form, state));
          }
        }
      }
    });
  }

  const APP_PATHS = [
    '/api/v1/tenants/1/search',
    '/api/v1/tenants/1/hits',
    '/api/v1/tenants/1/rejections',
    '/api/v1/tenants/abc/hits',
    '/api/v1/account/projects',
    '/select/logsql/query',
    '/ws/livetail/1',
    '/ws/alerts/1',
    '/openapi.json',
    '/ui/',
    '/ui/index.html',
  ];
  for (const path of APP_PATHS) {
    it(`${path} on the ingest host: 404, with a key, a wrong one, or none`, async () => {
      for (const method of ['GET', 'POST', 'DELETE']) {
        for (const key of ['own', 'rotated-or-revoked', '']) {
          for (const form of FORMS.filter(([name]) => name === 'Bearer' || name === 'api_key'))
            expect(await status('ingest', method, path, form[1](key))).to.equal(404);
        }
      }
    });
  }

  /** Two credentials at once: the rules, and what each plane makes of them. */
  const basic = (key: string): string => `Basic ${base64(`${key}:`)}`;
  const RULES: readonly (readonly [string, HostName, string, Sent, number])[] = [
    [
      'a wrong header is not saved by a good query key',
      'app',
      '/write',
      { headers: { authorization: 'Bearer no' }, query: 'api_key=own' },
      403,
    ],
    ['a wrong X-API-Key neither', 'app', '/write', { headers: { 'x-api-key': 'no' }, query: 'api_key=own' }, 403],
    ['a wrong Basic neither', 'app', '/write', { headers: { authorization: basic('no') }, query: 'api_key=own' }, 403],
    ['a wrong Token neither', 'ingest', '/write', { headers: { authorization: 'Token no' }, query: 'api_key=own' }, 403],
    [
      'a good header is not harmed by a wrong query key',
      'app',
      '/write',
      { headers: { authorization: 'Bearer own' }, query: 'api_key=no' },
      200,
    ],
    [
      'a header that cannot be parsed does not shadow the query',
      'app',
      '/write',
      { headers: { authorization: 'Splunk no' }, query: 'api_key=own' },
      200,
    ],
    ['nor does an empty one', 'app', '/write', { headers: { authorization: 'Bearer ' }, query: 'api_key=own' }, 200],
    ['nor Basic without a colon', 'app', '/write', { headers: { authorization: `Basic ${base64('no')}` }, query: 'api_key=own' }, 200],
    [
      'on the ingest plane a query key stays none',
      'app',
      '/api/v1/ingest',
      { headers: { authorization: 'Splunk no' }, query: 'api_key=own' },
      401,
    ],
    [
      'an unparsed Authorization does not shadow X-API-Key',
      'ingest',
      '/_bulk',
      { headers: { authorization: 'Token no', 'x-api-key': 'own' }, query: '' },
      200,
    ],
    ['on the app plane it is parsed', 'app', '/write', { headers: { authorization: 'Token no', 'x-api-key': '' }, query: '' }, 403],
    ['two headers with one key', 'ingest', '/_bulk', { headers: { authorization: 'Bearer own', 'x-api-key': 'own' }, query: '' }, 200],
    ['blanks around the query key', 'app', '/write', { headers: {}, query: 'api_key=%20own%20' }, 200],
    ['two query keys: the first', 'app', '/write', { headers: {}, query: 'api_key=own&api_key=no' }, 200],
  ];
  for (const [name, host, path, sent, code] of RULES)
    it(`${name}: ${String(code)}`, async () => expect(await status(host, 'POST', path, sent)).to.equal(code));
});

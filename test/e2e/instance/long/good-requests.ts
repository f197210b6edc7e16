/** Requests that every operation of their names answers well, of a tenant that has what `prepare` sends. */
import type { Instance } from '../../instance.ts';
import { until } from '../../instance.ts';

/** What is sent: parameters of the URL, parts of the path, a body; `ends`: the answer goes on for ever and is left. */
export type Good = {
  readonly query?: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly isEndless?: true;
  readonly headers?: Readonly<Record<string, string>>;
};

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const BASE = '/api/v1/tenants/{tenant_id}';
const ended = Date.now() + 60_000;
const [START, END] = [new Date(ended - 3_600_000).toISOString(), new Date(ended).toISOString()];
const V3 = `query.service_name=web&query.start_time_min=${START}&query.start_time_max=${END}`;
const PROM_RANGE = `start=${START}&end=${END}`;

/** Both methods of an operation. */
const both = (id: string, good: Good): [string, Good][] => [id, `${id}ByPost`].map((name) => [name, good]);
/** An operation of Jaeger under both of its paths. */
const jaeger = (name: string, good: Good): [string, Good][] => ['jaeger', 'jaegerRoot'].map((prefix) => [prefix + name, good]);
const ofTrace: Good = { params: { trace_id: TRACE } };

/** What reads, by the names of the operations. */
export const READS: ReadonlyMap<string, Good> = new Map<string, Good>([
  ...['Stats', 'StatsRange'].flatMap((name) => both(`vl${name}`, { query: 'query=*|stats count() n&step=1h' })),
  ...['Facets', 'FieldNames', 'Hits', 'Query', 'StreamFieldNames', 'StreamIds', 'Streams'].flatMap((name) =>
    both(`vl${name}`, { query: 'query=*&step=1h' }),
  ),
  ...['FieldValues', 'StreamFieldValues'].flatMap((name) => both(`vl${name}`, { query: 'query=*&field=service' })),
  ...both('promFormat', { query: 'query=up' }),
  ...both('promParse', { query: 'query=up' }),
  ...both('promQuery', { query: 'query=vector(1)' }),
  ...both('promQueryRange', { query: `query=vector(1)&${PROM_RANGE}&step=60` }),
  ...both('promExemplars', { query: `query=up&${PROM_RANGE}` }),
  ...both('promSeries', { query: 'match[]=up' }),
  ...['Calls', 'Errors'].flatMap((name) => jaeger(name, { query: 'service=web' })),
  ...jaeger('Latencies', { query: 'service=web&quantile=0.95' }),
  ...jaeger('Operations', { query: 'service=web' }),
  ...jaeger('Traces', { query: 'service=web' }),
  ...jaeger('Dependencies', { query: `endTs=${String(ended)}&lookback=3600000` }),
  ...['V3Traces', 'V3Summaries'].flatMap((name) => jaeger(name, { query: V3 })),
  ...['Trace', 'V3Trace'].flatMap((name) => jaeger(name, ofTrace)),
  ...(['getTrace', 'searchTraceLogs'] as const).map((id): [string, Good] => [id, ofTrace]),
  ['listTraces', { query: 'service=web' }],
  ['listOperations', { params: { service: 'web' } }],
  ['getServiceMap', {}],
  ['listSpanFacets', {}],
  ['countSpans', {}],
  ['searchSpans', { body: '{"query":"*"}' }],
  ['searchEntries', { body: '{"query":"*"}' }],
  ['previewRule', { body: '{"query":"level:error | stats count()","if":"value > 5"}' }],
  ['previewMetricRule', { body: '{"watch":"Queue","expr":"queue"}' }],
  ['previewDetector', { body: '{"detector":"log_rate"}' }],
]);
/** What goes on until the client leaves. */
export const TAILS: ReadonlyMap<string, Good> = new Map<string, Good>([
  ['tailEntries', { query: 'query=*', isEndless: true }],
  ...both('vlTail', { query: 'query=*', isEndless: true }),
]);

const span = { traceId: TRACE, spanId: 'b7ad6b7169203331', name: 'GET /', kind: 2, startTimeUnixNano: `${String(Date.now() - 60_000)}000000`, endTimeUnixNano: `${String(Date.now() - 59_900)}000000` }; // prettier-ignore
const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'web' } }] };
const VERCEL = [{ id: '1', message: 'x', timestamp: Date.now(), source: 'lambda', deploymentId: 'd', projectId: 'p' }];

/** Bodies that the paths of ingest take, the first that fits; of the others `{"_msg":"x"}`. */
const BODIES: readonly (readonly [path: RegExp, body: string])[] = [
  [/bulk$/i, '{"create":{}}\n{"_msg":"x"}\n'],
  [/cloudwatch/i, JSON.stringify({ requestId: '1', timestamp: 1, records: [] })],
  [/vercel/i, JSON.stringify(VERCEL)],
  [/ack$/, '{"acks":[0]}'],
  [/collector/, '{"event":"x"}'],
  [/traces$/, JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ spans: [span] }] }] })],
  [/v2\/spans$/, '[]'],
  [/v1\/metrics$/, '{"resourceMetrics":[]}'],
  [/v1\/logs$/, '{"resourceLogs":[]}'],
  [/gelf$/, JSON.stringify({ version: '1.1', host: 'h', short_message: 'x' })],
  [/write$/, 'm v=1'],
  [/loki/, '{"streams":[]}'],
];
export const bodyOf = (path: string): string => BODIES.find(([pattern]) => pattern.test(path))?.[1] ?? '{"_msg":"x"}';

/** What a tenant makes in order to read, change and delete it: the path, the names of the operations, and bodies. */
export type Kept = {
  readonly path: string;
  readonly part: string;
  readonly body: object;
  readonly change?: object;
};
export const KEPT: readonly Kept[] = [
  {
    path: `${BASE}/rules`,
    part: 'rule_id',
    body: { query: 'level:error | stats count()', if: 'value > 5' },
    change: { query: 'level:error | stats count()', if: 'value > 6' },
  },
  { path: `${BASE}/metric-rules`, part: 'rule_id', body: { alert: 'A', expr: 'up == 0' }, change: { alert: 'A', expr: 'up == 1' } },
  { path: `${BASE}/saved-searches`, part: 'search_id', body: { name: 'n', query: '*' }, change: { name: 'm', query: '*' } },
  {
    path: '/api/v1/ai/playbooks',
    part: 'playbook_id',
    body: { name: 'p', text: '# Do it', selector: { services: ['web'] } },
  },
  { path: '/api/v1/account/projects', part: 'project_id', body: { name: 'p' }, change: { name: 'q' } },
  { path: `${BASE}/keys`, part: 'key_id', body: { scopes: ['read'] } },
];

/** Sends what is read later, and waits until it is there. */
export async function prepare(instance: Instance, tenant: { readonly id: number; readonly key: string }): Promise<void> {
  const headers = { Authorization: `Bearer ${tenant.key}`, 'Content-Type': 'application/json' };
  await instance.call('POST', `${instance.app}/v1/traces`, bodyOf('/v1/traces'), headers);
  await instance.call('POST', `${instance.app}/api/v1/ingest`, '{"_msg":"x","service":"web"}', headers);
  const at = `${instance.app}/api/v1/tenants/${String(tenant.id)}/traces/${TRACE}`;
  await until('the trace', () => instance.call('GET', at, undefined, headers), ({ status }) => status === 200); // prettier-ignore
}

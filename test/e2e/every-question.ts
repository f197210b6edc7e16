import { Random } from '../fuzz/random.ts';
import type { Instance } from './instance.ts';

/** Who asks. */
type Tenant = { readonly id: number; readonly key: string };

const SERVICES = ['web', 'cart', 'payments', 'mail', 'search'];
const SESSIONS = 6;
const COUNT = 400;

const hex = (random: Random, digits: number): string => Array.from({ length: digits }, () => random.below(16).toString(16)).join('');
const attribute = (key: string, value: string): object => ({ key, value: { stringValue: value } });

/** Sends logs, spans, samples and sessions of a tenant, the same ones for the same seed and time (milliseconds); the ids of some traces. */
export async function sendEverything(instance: Instance, { key }: Tenant, seed: number, at: number): Promise<readonly string[]> {
  const random = new Random(seed);
  const send = async (path: string, body: unknown): Promise<void> => {
    const { status, body: answer } = await instance.call('POST', `${instance.app}${path}`, body, { Authorization: `Bearer ${key}` });
    if (status >= 300) throw new Error(`${path}: ${String(status)} ${JSON.stringify(answer)}`);
  };
  const traces = Array.from({ length: 40 }, () => hex(random, 32));
  const ns = (ms: number): string => String(BigInt(at + ms) * 1_000_000n);
  const entries = Array.from({ length: COUNT }, (_none, index) => ({
    ...{ _time: new Date(at + index * 50).toISOString(), service: random.pick(SERVICES), level: random.pick(['info', 'warn', 'error']) },
    ...{ _msg: `${random.pick(['user', 'order', 'mail'])} ${String(random.below(1000))} ${random.pick(['sent', 'lost', 'read'])}`, n: random.below(50) }, // prettier-ignore
    ...{ trace_id: random.pick(traces), host: `h${String(random.below(8))}`, 'session.id': `session-${String(random.below(SESSIONS))}` },
  }));
  for (let from = 0; from < COUNT; from += 50) await send('/api/v1/ingest', entries.slice(from, from + 50));
  const roots = traces.map(() => hex(random, 16));
  for (const [place, service] of SERVICES.entries()) {
    const spans = traces.map((traceId, index) => ({
      ...{
        traceId,
        spanId: place === 0 ? roots[index] : hex(random, 16),
        parentSpanId: place === 0 ? '' : roots[index],
        name: `GET /${String(random.below(4))}`,
        kind: 1 + random.below(5),
      },
      ...{ startTimeUnixNano: ns(index * 300 + place), endTimeUnixNano: ns(index * 300 + place + 1 + random.below(200)) },
      ...{ attributes: [attribute('http.route', `/${String(random.below(9))}`)], status: { code: random.below(3) } },
    }));
    await send('/v1/traces', {
      resourceSpans: [{ resource: { attributes: [attribute('service.name', service)] }, scopeSpans: [{ spans }] }],
    });
    const dataPoints = Array.from({ length: 30 }, (_none, index) => ({
      ...{ timeUnixNano: ns(index * 1000), asDouble: random.below(1000) / 10 },
      attributes: [attribute('host', `h${String(index % 6)}`)],
    }));
    const metrics = [{ name: 'load', unit: '1', description: 'of a host', gauge: { dataPoints } }];
    await send('/v1/metrics', { resourceMetrics: [{ resource: { attributes: [attribute('service.name', service)] }, scopeMetrics: [{ metrics }] }] }); // prettier-ignore
  }
  for (let session = 0; session < SESSIONS; session++)
    for (let seq = 0; seq < 2; seq++) {
      const events = [0, 1, 2].map((index) => ({ type: index === 0 ? 4 : 3, data: { href: 'https://shop.example/' }, timestamp: at + seq * 4000 + index * 100 })); // prettier-ignore
      await send('/v1/rum/replay', { session_id: `session-${String(session)}`, seq, user: `user ${String(session % 3)}`, events });
    }
  return traces.slice(0, 3);
}

/** How many entries the patterns of a tenant count since a time (milliseconds): all that were sent, once they are whole. */
export async function countedByPatterns(instance: Instance, { id, key }: Tenant, at: number): Promise<number> {
  const since = new Date(at - 60_000).toISOString();
  const { body } = await instance.call('GET', `${instance.app}/api/v1/tenants/${String(id)}/patterns?since=${since}&limit=100`, undefined, { Authorization: `Bearer ${key}` }); // prettier-ignore
  return (body as { patterns: { count: number }[] }).patterns.reduce((sum, { count }) => sum + count, 0);
}

/** Answers that any two whole copies of a tenant's rows must give alike, by what was asked. What is of the moment is left out. */
export async function everyAnswer(
  instance: Instance,
  { id, key }: Tenant,
  at: number,
  traces: readonly string[],
): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  const [from, to] = [new Date(at - 60_000).toISOString(), new Date(at + 120_000).toISOString()];
  const own = `/api/v1/tenants/${String(id)}`;
  const ask = async (method: string, path: string, body?: unknown): Promise<void> => {
    const { status, body: answer } = await instance.call(method, instance.app + path, body, { Authorization: `Bearer ${key}` });
    answers[`${method} ${path} ${body === undefined ? '' : JSON.stringify(body)}`] = { status, ...comparable(answer, path) };
  };
  const get = (path: string, parameters: Readonly<Record<string, string>> = {}): Promise<void> =>
    ask('GET', `${path}?${new URLSearchParams(parameters).toString()}`);
  const window = { start: from, end: to };
  for (const query of LOG_QUERIES) await ask('POST', `${own}/search`, { query, ...window, limit: 1000 });
  for (const query of SPAN_QUERIES) await ask('POST', `${own}/spans/search`, { query, ...window, limit: 1000 });
  for (const prefix of ['', '/spans']) {
    await get(`${own}${prefix}/hits`, { query: '*', step: '5s', fields_by: 'service', ...window });
    await get(`${own}${prefix}/facets`, { query: '*', ...window });
  }
  for (const name of ['streams', 'services', 'service-map', 'traces']) await get(`${own}/${name}`, { query: '*', ...window });
  for (const service of SERVICES) await get(`${own}/services/${service}/operations`, window);
  await get(`${own}/traces`, { service: 'cart', status: 'error', min_duration: '50ms', ...window });
  await get(`${own}/traces`, { tag: 'http.route:/3', limit: '5', ...window });
  for (const trace of traces) for (const rest of ['', '/logs']) await get(`${own}/traces/${trace}${rest}`);
  for (const name of ['services', 'operations', 'traces', 'dependencies']) await get(`${own}/jaeger/api/${name}`, { service: 'web', start: `${String(at - 1000)}000`, end: `${String(at + 60_000)}000`, endTs: String(at + 60_000), lookback: '3600000' }); // prettier-ignore
  const seconds = { start: String(at / 1000), end: String(at / 1000 + 60), step: '5' };
  for (const query of ['load', 'sum by (service_name) (load)', 'topk(3, max_over_time(load[1m]))', 'count({__name__=~".+"})'])
    await get(`${own}/prometheus/api/v1/query_range`, { query, ...seconds });
  for (const name of ['series', 'labels', 'label/host/values', 'metadata']) await get(`${own}/prometheus/api/v1/${name}`, { 'match[]': 'load', start: seconds.start, end: seconds.end }); // prettier-ignore
  await get(`${own}/metrics/cardinality`);
  await get(`${own}/patterns`, { since: from, limit: '50' });
  const { body } = answers[Object.keys(answers).at(-1) ?? ''] as {
    readonly body: { readonly patterns: readonly { readonly fingerprint: string }[] };
  };
  for (const { fingerprint } of body.patterns.slice(0, 3)) {
    await get(`${own}/patterns/${fingerprint}`, { since: from });
    await ask('POST', `${own}/search`, { query: `_fingerprint:${fingerprint}`, ...window, limit: 1000 });
  }
  await get(`${own}/replay/sessions`, window);
  for (let session = 0; session < SESSIONS; session++)
    for (const rest of ['', '/events', '/logs', '/traces']) await get(`${own}/replay/sessions/session-${String(session)}${rest}`);
  return answers;
}

const LOG_QUERIES = [
  '*',
  'error',
  'user or lost',
  '_msg:~"[0-9]{3} sent"',
  '{service="web"}',
  'service:in(service:cart level:error | fields service)',
  '* | stats by (service, level) count() n, count_uniq(host) hosts, sum(n) total, quantile(0.9, n) high | sort by (service, level)',
  '* | stats by (_time:5s) count() n | sort by (_time)',
  '* | uniq by (host) with hits | sort by (host)',
  '* | top 3 by (service)',
  '* | sort by (n desc, _time) | limit 20 | fields n, _msg',
  '* | first 5 by (n, _msg) partition by (service)',
  'level:error | join by (host) (level:warn | stats by (host) count() warned) | fields host, warned, _msg | sort by (_msg, host)',
  'lost | stream_context before 2 after 2',
  '* | facets 5',
];
const SPAN_QUERIES = [
  '*',
  'status:error',
  'attributes.http.route:=/3',
  '* | stats by (service) count() n, max(duration) longest | sort by (service)',
  'trace_id:in(status:error service:web | fields trace_id) | stats count() n',
];

/** An answer without what differs from one to the next: when it was made, how long it took, and the order of what has none. */
export function comparable(answer: unknown, path: string): object {
  const text = JSON.stringify(answer, (name, value: unknown) => (OF_THE_MOMENT.includes(name) ? undefined : value));
  const kept = JSON.parse(text) as Record<string, unknown>;
  return { body: UNORDERED.test(path) ? ordered(kept) : kept };
}

// what processes know of patterns comes from no set
const OF_THE_MOMENT = [
  '_fingerprint',
  '_first_seen',
  '_occurrences',
  'elapsed_ms',
  'hints',
  'cursor',
  'request_id',
  'window',
  'trend',
  'is_new',
];
const UNORDERED = /\/(?:services|streams|series|patterns|dependencies|service-map|traces|operations|facets|metadata)\b/;

/** The same with the members of each list by their text. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, ordered(one)]));
}

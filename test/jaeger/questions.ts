import { SHORT_TRACE, traceOf } from './corpus.ts';

const of = (path: string, given: Readonly<Record<string, string | readonly string[]>>): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) for (const one of [value].flat()) query.append(name, one);
  return `${path}?${query.toString()}`;
};

/** All that is asked of both; `now` is Unix milliseconds. */
export function questions(now: number): string[] {
  const window = { start: String((now - 3_600_000) * 1000), end: String((now + 60_000) * 1000) };
  const search = (given: Readonly<Record<string, string | readonly string[]>>): string => of('/api/traces', { ...window, ...given });
  const windowV3 = {
    'query.start_time_min': new Date(now - 3_600_000).toISOString(),
    'query.start_time_max': new Date(now + 60_000).toISOString(),
  };
  const searchV3 = (given: Readonly<Record<string, string>>): string => of('/api/v3/traces', { ...windowV3, ...given });
  const base64 = Buffer.from(traceOf(1), 'hex').toString('base64');
  const dependencies = { endTs: String(now + 60_000), lookback: '3600000' };
  return [
    ...[
      '/api/services',
      '/api/services/front/operations',
      '/api/services/none/operations',
      '/api/services/%C3%BCn%C3%AF%2Fc%C3%B8d%C3%A9%20svc/operations',
    ],
    ...['', '?service=front', '?service=none', '?service=front&spanKind=server', '?service=front&spanKind=none', '?service=shop'].map(
      (one) => `/api/operations${one}`,
    ),
    ...[1, 3, 4, 5, 6, 7, 8, 9, 100, 129].map((number) => `/api/traces/${traceOf(number)}`),
    ...[traceOf(1).toUpperCase(), SHORT_TRACE, SHORT_TRACE.slice(16), 'abc', traceOf(999), 'f', 'xyz', '', '0', '0'.repeat(32), `1${traceOf(1)}`, encodeURIComponent(base64)].map((one) => `/api/traces/${one}`), // prettier-ignore
    `/api/traces/${traceOf(1)}?raw=true`,
    of(`/api/traces/${traceOf(1)}`, window),
    of(`/api/traces/${traceOf(1)}`, { start: 'x' }),
    // what Grafana's data source and the former UI ask for
    search({ service: 'shop', limit: '20' }),
    search({ service: 'shop', limit: '20', operation: 'buy', tags: '{}' }),
    search({ service: 'shop', limit: '20', operation: 'buy', lookback: '1h', maxDuration: '', minDuration: '' }),
    ...['100ms', '0.1s', '1us', '100', 'x', '-5ms', '1h30m'].flatMap((one) => [
      search({ service: 'shop', minDuration: one }),
      search({ service: 'shop', maxDuration: one }),
    ]),
    search({ service: 'shop', minDuration: '100ms', maxDuration: '150ms' }),
    search({ service: 'shop', minDuration: '150ms', maxDuration: '100ms' }),
    ...['{"user.id":"u1"}', '{"http.response.status_code":"500"}', '{"cached":"true"}', '{"error":"true"}', '{"span.kind":"server"}', '{"user.id":"u1","cached":"false"}', '{"deployment.environment.name":"test"}', '{"otel.scope.name":"lib"}', '{"user.id":"none"}', '{', '[]', '{"a":1}', '""', 'null'].map((tags) => search({ service: 'shop', tags })), // prettier-ignore
    ...['user.id:u1', 'user.id', ':', 'a:b:c'].map((tag) => search({ service: 'shop', tag })),
    search({ service: 'front', tag: ['int:42', 'bool:true'] }),
    search({ service: 'front', tags: '{"w3c.tracestate":"a=1,b=2"}' }),
    search({ service: 'front', tags: '{"otel.status_code":"ERROR"}' }),
    search({ service: 'front', tags: '{"exception.message":"no"}' }),
    search({ service: 'front' }),
    search({ service: 'back' }),
    search({ service: 'none' }),
    search({}),
    ...['0', '-1', '1', '1500', '1501', 'x', '99999999999'].map((limit) => search({ service: 'shop', limit })),
    of('/api/traces', { service: 'shop', start: window.end, end: window.start }),
    of('/api/traces', { service: 'shop' }),
    of('/api/traces', { service: 'shop', start: 'x' }),
    of('/api/traces', { service: 'shop', end: '1.5' }),
    of('/api/traces', { service: 'shop', start: '1', end: '2' }),
    of('/api/traces', { traceID: [traceOf(3), traceOf(999)] }),
    of('/api/traces', { traceID: 'x' }),
    ...['', '?endTs=x', '?lookback=x'].map((one) => `/api/dependencies${one}`),
    of('/api/dependencies', dependencies),
    of('/api/dependencies', { ...dependencies, service: 'front' }),
    of('/api/dependencies', { endTs: '1000', lookback: '1' }),
    '/api/v3/services',
    ...['', '?service=front', '?service=none', '?service=front&span_kind=server'].map((one) => `/api/v3/operations${one}`),
    ...[1, 3, 4, 5, 6, 7, 8, 9].map((number) => `/api/v3/traces/${traceOf(number)}`),
    ...[traceOf(999), 'xyz', SHORT_TRACE, SHORT_TRACE.slice(16)].map((one) => `/api/v3/traces/${one}`),
    of(`/api/v3/traces/${traceOf(1)}`, { start_time: new Date(now - 3_600_000).toISOString(), end_time: new Date(now).toISOString() }),
    of(`/api/v3/traces/${traceOf(1)}`, { start_time: 'x' }),
    of(`/api/v3/traces/${traceOf(1)}`, { raw_traces: 'true' }),
    of(`/api/v3/traces/${traceOf(1)}`, { raw_traces: 'x' }),
    searchV3({ 'query.service_name': 'shop', 'query.num_traces': '10' }),
    searchV3({ 'query.service_name': 'shop', 'query.num_traces': '10', 'query.operation_name': 'buy', 'query.duration_min': '100ms' }),
    searchV3({ 'query.service_name': 'none', 'query.num_traces': '10' }),
    searchV3({ 'query.service_name': 'shop', 'query.num_traces': 'x' }),
    searchV3({ 'query.service_name': 'shop', 'query.num_traces': '10', 'query.duration_max': 'x' }),
    of('/api/v3/traces', { 'query.service_name': 'shop' }),
    of('/api/v3/traces', { ...windowV3, 'query.start_time_min': 'x' }),
  ];
}

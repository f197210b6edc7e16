import type { Endpoint } from '../../http/endpoint.ts';
import type { Exchange } from '../../http/exchange.ts';
import type { ErrorStyle } from '../../http/render-error.ts';
import type { QueryRuntime } from '../../query/runtime.ts';
import { describedPath } from './described.ts';
import { latenciesOf, metricsOf } from './metrics.ts';
import { dependencyWindow, jaegerSearch, jaegerTraceOf, kindOf, serviceOf, serviceRequired } from './parameters.ts';
import { dependenciesWindowV3, kindV3, searchV3, traceV3 } from './v3.ts';

/** Where Jaeger's paths are: under the tenant's, and at the root, where the key names the tenant: some clients drop the path of a URL. */
const BASES = ['/api/v1/tenants/{tenant_id}/jaeger', ''];

/** A path of Jaeger, what runs it, and its parameters. */
type JaegerPath = readonly [path: string, operation: string, read: (exchange: Pick<Exchange, 'params' | 'query'>) => unknown];

const PATHS: readonly JaegerPath[] = [
  ['/api/services', 'services', () => ({})],
  ['/api/services/{service}/operations', 'operation-names', ({ params }) => ({ service: serviceOf(params['service'] ?? ''), kind: null })],
  ['/api/operations', 'operations', ({ query }) => ofService(query, query.get('spanKind') ?? '')],
  ['/api/traces', 'traces', ({ query }) => jaegerSearch(query)],
  ['/api/traces/{trace_id}', 'trace', ({ params, query }) => jaegerTraceOf(params['trace_id'] ?? '', query)],
  ['/api/dependencies', 'dependencies', ({ query }) => ({ ...dependencyWindow(query), service: query.get('service') ?? '' })],
  ['/api/metrics/latencies', 'metrics/latencies', ({ query }) => latenciesOf(query)],
  ['/api/metrics/calls', 'metrics/calls', ({ query }) => metricsOf(query)],
  ['/api/metrics/errors', 'metrics/errors', ({ query }) => metricsOf(query)],
  ['/api/metrics/minstep', 'metrics/minstep', () => ({})],
];

const PATHS_V3: readonly JaegerPath[] = [
  ['/api/v3/services', 'v3/services', () => ({})],
  ['/api/v3/operations', 'v3/operations', ({ query }) => ofServiceV3(query)],
  ['/api/v3/traces', 'v3/traces', ({ query }) => searchV3(query)],
  ['/api/v3/trace-summaries', 'v3/trace-summaries', ({ query }) => searchV3(query)],
  ['/api/v3/dependencies', 'v3/dependencies', ({ query }) => dependenciesWindowV3(query)],
  ['/api/v3/traces/{trace_id}', 'v3/trace', ({ params, query }) => traceV3(params['trace_id'] ?? '', query)],
];

function ofService(query: URLSearchParams, kind: string): { readonly service: string; readonly kind: number | null } {
  const service = query.get('service') ?? '';
  if (service === '') throw serviceRequired();
  return { service: serviceOf(service), kind: kindOf(kind) };
}

/** Version 3 has no operations without a service, and does not complain. */
function ofServiceV3(query: URLSearchParams): { readonly service: string | null; readonly kind: number | null } {
  const service = query.get('service') ?? '';
  return { service: service === '' ? null : serviceOf(service), kind: kindOf(kindV3(query)) };
}

/** Jaeger's query API (https://www.jaegertracing.io/docs/1.76/apis/), with Jaeger's own answers for errors. */
export function createJaegerEndpoints(runtime: QueryRuntime): readonly Endpoint[] {
  const endpoint = (base: string, errors: ErrorStyle, [path, operation, read]: JaegerPath): Endpoint => ({
    methods: ['GET'],
    path: base + path,
    operation: describedPath(path, base === ''),
    errors,
    access: { plane: 'app', scope: 'read' },
    handle: async (exchange) => ({ status: 200, ...(await runtime.run(exchange, `jaeger/${operation}`, read(exchange))) }),
  });
  return BASES.flatMap((base) => [
    ...PATHS.map((path) => endpoint(base, 'jaeger', path)),
    ...PATHS_V3.map((path) => endpoint(base, 'jaeger_v3', path)),
  ]);
}

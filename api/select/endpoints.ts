import type { Endpoint } from '../http/endpoint.ts';
import type { ErrorStyle } from '../http/render-error.ts';
import { describedPath, TENANT_IDS } from './described.ts';
import type { QueryRuntime } from '../query/runtime.ts';
import { MAX_HELD, readArguments, readLimit, timeoutOf, type Arguments } from './arguments.ts';

const TEXT: ErrorStyle = 'text';
const PROMETHEUS: ErrorStyle = 'prometheus';

/** Paths, each with its style of errors; the operation of the engine is `select/` and the path. */
const PATHS: readonly (readonly [string, ErrorStyle])[] = [
  ['query', TEXT],
  ['hits', TEXT],
  ['facets', TEXT],
  ['stats_query', PROMETHEUS],
  ['stats_query_range', PROMETHEUS],
  ['field_names', TEXT],
  ['field_values', TEXT],
  ['stream_field_names', TEXT],
  ['stream_field_values', TEXT],
  ['streams', TEXT],
  ['stream_ids', TEXT],
];

/**
 * VictoriaLogs' read API, but for its tail (`tail-endpoint.ts`), over the entries of the key's tenant, by GET and by a form
 * (https://docs.victoriametrics.com/victorialogs/querying/#http-api). Errors are plain text, of the `stats` paths Prometheus' JSON.
 */
export function createSelectEndpoints(runtime: QueryRuntime): readonly Endpoint[] {
  const answers = PATHS.map(([name, errors]): Endpoint => ({
    methods: ['GET', 'POST'],
    path: `/select/logsql/${name}`,
    operation: describedPath(name),
    errors,
    access: { plane: 'app', scope: 'read' },
    isNarrowed: true,
    handle: async (exchange) => {
      const parameters = await readArguments(exchange);
      const options = { timeoutMs: timeoutOf(parameters), isExport: name === 'query' && isExport(parameters) };
      const answer = await runtime.run(exchange, `select/${name}`, [...parameters], options);
      return { status: 200, headers: { 'VL-Request-Duration-Seconds': secondsSince(exchange.startedAt) }, ...answer };
    },
  }));
  return [...answers, tenantIds];
}

/** `/select/tenant_ids`: the tenant of the key alone, as `_stream_id` begins with it. */
const tenantIds: Endpoint = {
  methods: ['GET', 'POST'],
  path: '/select/tenant_ids',
  operation: TENANT_IDS,
  errors: TEXT,
  access: { plane: 'app', scope: 'read' },
  handle: ({ principal }) => Promise.resolve({ status: 200, body: [{ account_id: 0, project_id: principal.tenantId }] }),
};

function isExport(parameters: Arguments): boolean {
  const { limit, offset } = readLimit(parameters);
  return limit + offset > MAX_HELD;
}

const secondsSince = (startedAt: number): string => ((performance.now() - startedAt) / 1000).toFixed(3);

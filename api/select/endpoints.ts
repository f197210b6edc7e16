import type { Endpoint } from '../http/endpoint.ts';
import type { ErrorStyle } from '../http/render-error.ts';
import type { RouteAnswer } from '../http/route.ts';
import type { LiveTails } from '../limits/live-tails.ts';
import type { Deps, Request } from '../query/deps.ts';
import type { QueryRuntime } from '../query/runtime.ts';
import { readArguments, timeoutOf, type Arguments } from './arguments.ts';
import { selectFacets } from './facets.ts';
import { selectHits } from './hits.ts';
import { selectRows } from './query.ts';
import { selectStats, selectStatsRange } from './stats.ts';
import { tailEndpoint } from './tail.ts';
import { fieldNames, fieldValues, streamFieldNames, streamFieldValues, streamIds, streams } from './values.ts';

/** An answer of VictoriaLogs' read API, of checked and unchecked arguments. */
export type Select = (parameters: Arguments, request: Request, deps: Deps) => Promise<Omit<RouteAnswer, 'status'>>;

const TEXT: ErrorStyle = 'text';
const PROMETHEUS: ErrorStyle = 'prometheus';

const PATHS: readonly (readonly [string, Select, ErrorStyle])[] = [
  ['query', selectRows, TEXT],
  ['hits', selectHits, TEXT],
  ['facets', selectFacets, TEXT],
  ['stats_query', selectStats, PROMETHEUS],
  ['stats_query_range', selectStatsRange, PROMETHEUS],
  ['field_names', fieldNames, TEXT],
  ['field_values', fieldValues, TEXT],
  ['stream_field_names', streamFieldNames, TEXT],
  ['stream_field_values', streamFieldValues, TEXT],
  ['streams', streams, TEXT],
  ['stream_ids', streamIds, TEXT],
];

/**
 * VictoriaLogs' read API over the entries of the key's tenant, by GET and by a form
 * (https://docs.victoriametrics.com/victorialogs/querying/#http-api). Errors are plain text, of the `stats` paths Prometheus' JSON.
 */
export function createSelectEndpoints(runtime: QueryRuntime, tails: LiveTails): readonly Endpoint[] {
  const deps = runtime.deps(false);
  const answers = PATHS.map(([name, select, errors]): Endpoint => ({
    methods: ['GET', 'POST'],
    path: `/select/logsql/${name}`,
    errors,
    access: { plane: 'app', scope: 'read' },
    handle: async (exchange) => {
      const parameters = await readArguments(exchange);
      const answer = await runtime.run(exchange, (request) => select(parameters, request, deps), timeoutOf(parameters));
      return { status: 200, headers: { 'VL-Request-Duration-Seconds': secondsSince(exchange.startedAt) }, ...answer };
    },
  }));
  return [...answers, tailEndpoint(runtime, tails), tenantIds];
}

/** `/select/tenant_ids`: the tenant of the key alone, as `_stream_id` begins with it. */
const tenantIds: Endpoint = {
  methods: ['GET', 'POST'],
  path: '/select/tenant_ids',
  errors: TEXT,
  access: { plane: 'app', scope: 'read' },
  handle: ({ principal }) => Promise.resolve({ status: 200, body: [{ account_id: 0, project_id: principal.tenantId }] }),
};

const secondsSince = (startedAt: number): string => ((performance.now() - startedAt) / 1000).toFixed(3);

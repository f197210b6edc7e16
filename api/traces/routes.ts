import type { Operation } from '../http/operation.ts';
import type { Route, RouteContext } from '../http/route.ts';
import * as described from './described.ts';
import { unknownNames, withHints } from '../query/hints.ts';
import type { QueryRuntime } from '../query/runtime.ts';
import { TRACE_LOGS, TRACE_WINDOW, traceLogsParameters, TRACES, tracesParameters, traceWindow } from './parameters.ts';
import { readTraceId } from './trace-id.ts';

const BASE = '/api/v1/tenants/{tenant_id}';

/** The endpoints of a tenant that read its traces. */
export function createTraceRoutes(runtime: QueryRuntime): readonly Route[] {
  /** A GET whose parameters are checked before the query is counted; those that it does not know are named. */
  const get = (
    path: string,
    [name, operation]: readonly [string, Operation],
    known: readonly string[],
    read: (context: RouteContext) => unknown,
  ): Route => ({
    operation,
    method: 'GET',
    path: `${BASE}/${path}`,
    scope: 'read',
    handle: async (context) => {
      const answer = await runtime.run(context, `traces/${name}`, read(context));
      return withHints({ status: 200, ...answer }, unknownNames(context.query.keys(), known, 'parameter'));
    },
  });
  return [
    get('traces', ['list', described.TRACES], TRACES, ({ query }) => tracesParameters(query)),
    get('traces/{trace_id}', ['show', described.TRACE], [], ({ params }) => ({ id: readTraceId(params['trace_id']) })),
    get('traces/{trace_id}/logs', ['logs', described.TRACE_LOGS], TRACE_LOGS, ({ params, query }) =>
      traceLogsParameters(readTraceId(params['trace_id']), query),
    ),
    get('service-map', ['service-map', described.SERVICE_MAP], TRACE_WINDOW, ({ query }) => traceWindow(query)),
    get('services', ['services', described.SERVICES], TRACE_WINDOW, ({ query }) => traceWindow(query)),
    get('services/{service}/operations', ['operations', described.OPERATIONS], TRACE_WINDOW, ({ params, query }) => ({
      ...{ service: params['service'] ?? '', ...traceWindow(query) },
    })),
  ];
}

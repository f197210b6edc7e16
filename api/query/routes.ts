import type { Config } from '../../pipeline/core/config.ts';
import type { LogEntry } from '../../pipeline/core/entry.ts';
import { HttpError, queryTimeout } from '../../pipeline/core/errors.ts';
import type { Store } from '../../pipeline/store/client.ts';
import type { Route, RouteContext } from '../http/route.ts';
import type { Deps, Request } from './deps.ts';
import { hits } from './hits.ts';
import { listStreams } from './list-streams.ts';
import { hitsParameters, searchParameters, windowParameters } from './parameters.ts';
import { toQueryError } from './run.ts';
import { search } from './search.ts';
import { StreamDirectory } from './streams.ts';

/** What the query endpoints are made of. */
export type QueryRouteDeps = {
  readonly store: Store;
  /** Nanoseconds since the epoch. */
  readonly now: () => bigint;
  readonly limits: Config['limits'];
  /** Adds what is known of entries' patterns (`enrich=true`). */
  readonly enrich?: (rows: readonly LogEntry[], request: Request) => Promise<void>;
};

/** What a query may hold in this process. */
const STAGE_LIMITS = { maxRows: 1_000_000, maxBytes: 200_000_000 };
/** ClickHouse gives up this much earlier than we do (ms), so that its error is the one that is told. */
const MARGIN = 1000;
const BASE = '/api/v1/tenants/{tenant_id}';

/** The endpoints `/search`, `/hits` and `/streams` of a tenant. */
export function createQueryRoutes({ store, now, limits, enrich }: QueryRouteDeps): readonly Route[] {
  const streams = new StreamDirectory(store);
  const timeoutMs = limits.queryTimeoutSeconds * 1000;
  const options = (request: Request): ReturnType<Deps['runner']>['options'] => ({
    tenantId: request.tenantId,
    timeoutMs: Math.max(500, timeoutMs - MARGIN),
    signal: request.signal,
  });
  const deps = (isEnriched: boolean): Deps => ({
    now,
    limits: STAGE_LIMITS,
    runner: (request) => ({ store, streams, options: options(request) }),
    ...(isEnriched && enrich !== undefined ? { enrich } : {}),
  });
  const answer = (run: (request: Request) => Promise<string>) => async (context: RouteContext) => ({
    status: 200,
    body: await withTimeout(context, timeoutMs, run),
  });
  return [
    {
      method: 'POST',
      path: `${BASE}/search`,
      scope: 'read',
      handle: async (context) => {
        const parameters = searchParameters(await context.body());
        const isEnriched = context.query.get('enrich') !== 'false';
        return answer((request) => search(parameters, request, deps(isEnriched)))(context);
      },
    },
    {
      method: 'GET',
      path: `${BASE}/hits`,
      scope: 'read',
      handle: (context) => answer((request) => hits(hitsParameters(context.query), request, deps(false)))(context),
    },
    {
      method: 'GET',
      path: `${BASE}/streams`,
      scope: 'read',
      handle: (context) => answer((request) => listStreams(windowParameters(context.query), request, deps(false)))(context),
    },
  ];
}

/** Runs until the client has gone or the time is up; either ends the query in ClickHouse too. */
async function withTimeout(context: RouteContext, timeoutMs: number, run: (request: Request) => Promise<string>): Promise<string> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const { principal, startedAt, requestId } = context;
  const request = {
    tenantId: principal.tenantId,
    retentionDays: principal.plan.retentionDays,
    startedAt,
    requestId,
    signal: AbortSignal.any([context.signal, timeout]),
  };
  try {
    return await run(request);
  } catch (error) {
    if (timeout.aborted && !(error instanceof HttpError))
      throw queryTimeout('The query ran too long; narrow the time range or simplify the query.');
    throw toQueryError(error);
  }
}

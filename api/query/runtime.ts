import { HttpError, queryTimeout } from '../../pipeline/core/errors.ts';
import type { Config } from '../../pipeline/core/config.ts';
import type { LogEntry } from '../../pipeline/core/entry.ts';
import type { Store } from '../../pipeline/store/client.ts';
import type { RouteContext } from '../http/route.ts';
import type { QueryRate } from '../limits/query-rate.ts';
import type { Deps, Request } from './deps.ts';
import { toQueryError } from './run.ts';
import { StreamDirectory } from './streams.ts';

/** What the query endpoints are made of. */
export type QueryRuntimeOptions = {
  readonly store: Store;
  /** Nanoseconds since the epoch. */
  readonly now: () => bigint;
  readonly limits: Config['limits'];
  /** Counts each query of a key; absent: any number of queries. */
  readonly rate?: QueryRate;
  /** Adds what is known of entries' patterns (`enrich=true`). */
  readonly enrich?: (rows: readonly LogEntry[], request: Request) => Promise<void>;
};

/** What a query needs of a request. */
export type QueryContext = Pick<RouteContext, 'principal' | 'startedAt' | 'requestId' | 'signal'>;

/** What all query endpoints share: the store behind them, the rate of queries, the time that a query has. */
export type QueryRuntime = {
  deps(isEnriched: boolean): Deps;
  /**
   * Counts the query, and runs it until the client has gone or the time is up; either ends it in ClickHouse too. `timeoutMs` can
   * only shorten the time. Throws HttpError: 429, 504, or what the query threw.
   */
  run<T>(context: QueryContext, work: (request: Request) => Promise<T>, timeoutMs?: number): Promise<T>;
  readonly limits: Config['limits'];
};

/** What a query may hold in this process. */
const STAGE_LIMITS = { maxRows: 1_000_000, maxBytes: 200_000_000 };
/** ClickHouse gives up this much earlier than we do (ms), so that its error is the one that is told. */
const MARGIN = 1000;

export function createQueryRuntime({ store, now, limits, rate, enrich }: QueryRuntimeOptions): QueryRuntime {
  const streams = new StreamDirectory(store);
  const longest = limits.queryTimeoutSeconds * 1000;
  return {
    limits,
    deps: (isEnriched) => ({
      now,
      limits: STAGE_LIMITS,
      runner: ({ tenantId, timeoutMs, signal }) => ({
        store,
        streams,
        options: { tenantId, timeoutMs: Math.max(500, timeoutMs - MARGIN), signal },
      }),
      ...(isEnriched && enrich !== undefined ? { enrich } : {}),
    }),
    run: async (context, work, wanted) => {
      rate?.(context.principal);
      const timeoutMs = Math.min(wanted ?? longest, longest);
      const timeout = AbortSignal.timeout(timeoutMs);
      const request = requestOf(context, timeoutMs, timeout);
      try {
        return await work(request);
      } catch (error) {
        throw toClientError(error, request);
      }
    },
  };
}

function requestOf({ principal, startedAt, requestId, signal }: QueryContext, timeoutMs: number, timeout: AbortSignal): Request {
  return {
    tenantId: principal.tenantId,
    retentionDays: principal.plan.retentionDays,
    startedAt,
    requestId,
    timeoutMs,
    timeout,
    signal: AbortSignal.any([signal, timeout]),
  };
}

/** What a client is told of what a query threw; a time that is up comes first. */
export function toClientError(error: unknown, { timeout }: Request): unknown {
  if (timeout.aborted && !(error instanceof HttpError))
    return queryTimeout('The query ran too long; narrow the time range or simplify the query.');
  return toQueryError(error);
}

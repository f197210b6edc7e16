import type { Config } from '../../pipeline/core/config.ts';
import type { TenantUses } from '../../pipeline/core/tenant-use.ts';
import { forbidden } from '../../pipeline/core/errors.ts';
import type { Principal } from '../tenants/principal.ts';
import type { RouteContext } from '../http/route.ts';
import type { QueryRate } from '../limits/query-rate.ts';
import type { EngineAnswer, QueryEngine } from './engine.ts';
import type { LogCover } from './log-cover.ts';

/** What the query endpoints are made of. */
export type QueryRuntimeOptions = {
  readonly engine: QueryEngine;
  readonly limits: Pick<Config['limits'], 'queryTimeoutSeconds'>;
  /** Counts the queries of tenants. */
  readonly uses?: TenantUses<'queries' | 'seconds'>;
  /** How far the log is counted already; absent: entries are counted each time. */
  readonly cover?: Pick<LogCover, 'of'>;
  /** Counts each query of a key; absent: any number of queries. */
  readonly rate?: QueryRate;
};

/** What a query needs of a request. */
export type QueryContext = Pick<RouteContext, 'principal' | 'startedAt' | 'requestId' | 'signal'>;

export type RunOptions = {
  /** It can only shorten the time that a query has. */
  readonly timeoutMs?: number | undefined;
  readonly isExport?: boolean;
  /** It does not count for the query rate of its key. */
  readonly isFree?: boolean;
};

/** Operations all of whose rows come of plans that the filter of a project narrows (`planOptions`), and of its alerts (project-alerts.ts). */
const NARROWED: ReadonlySet<string> = new Set([
  ...['search', 'explain', 'hits', 'facets', 'streams', 'live/open', 'live/backfill', 'patterns', 'patterns/diff', 'pattern'],
  ...['alerts', 'alert', 'incidents', 'incident', 'live/alerts'],
]);

/** Throws HttpError 403 for a key of a project where an operation looks at what no filter narrows. */
function refuseWhole({ project }: Principal, operation: string): void {
  if (project !== undefined && !NARROWED.has(operation) && !operation.startsWith('select/'))
    throw forbidden(`The API key is narrowed to the project ${JSON.stringify(project.name)}, and this is of the whole tenant.`);
}

/** What all query endpoints share: what runs queries, how many a key may run, and the time limit of one. */
export class QueryRuntime {
  readonly #options: QueryRuntimeOptions;

  constructor(options: QueryRuntimeOptions) {
    this.#options = options;
  }

  /**
   * Counts the query, and runs it until the client disconnects or the time is up; either ends it in ClickHouse too. The time of an export
   * restarts with its rows. Rejects with HttpError: 429, 504, or what the query threw.
   */
  async run(
    context: QueryContext,
    operation: string,
    parameters: unknown,
    { timeoutMs, isExport = false, isFree = false }: RunOptions = {},
  ): Promise<EngineAnswer> {
    refuseWhole(context.principal, operation);
    if (!isFree) this.#options.rate?.(context.principal);
    const job = this.#job(context, operation, parameters, timeoutMs);
    const began = performance.now();
    try {
      const cover = (await this.#options.cover?.of(context.principal.tenantId)) ?? null;
      return await this.#options.engine.run({ ...job, cover, isExport });
    } finally {
      this.#options.uses?.add(context.principal.tenantId, { queries: 1, seconds: (performance.now() - began) / 1000 });
    }
  }

  #job({ principal, startedAt, requestId, signal }: QueryContext, operation: string, parameters: unknown, wanted?: number) {
    const longest = this.#options.limits.queryTimeoutSeconds * 1000;
    return {
      ...{ operation, parameters, requestId, startedAt, signal },
      ...(principal.project === undefined ? {} : { narrowedTo: principal.project.filter }),
      ...{ tenantId: principal.tenantId, retentionDays: principal.plan.retentionDays, atOnce: principal.plan.queriesAtOnce },
      timeoutMs: Math.min(wanted ?? longest, longest),
    };
  }
}

import type { VolumeCover } from '../../logsql/planner/volume.ts';
import type { RouteAnswer } from '../http/route.ts';

/** A query as it is handed on to be run: what is requested, for whom, and when to give up. */
export type QueryJob = {
  /** Its name in `OPERATIONS`. */
  readonly operation: string;
  /** The parameters of the operation, as JSON. */
  readonly parameters: unknown;
  readonly tenantId: number;
  /** LogsQL that every entry which it looks at must match; absent: all of the tenant's. */
  readonly narrowedTo?: string;
  /** 0: for ever. */
  readonly retentionDays: number;
  /** How many queries of the tenant run at once; the others wait. */
  readonly atOnce: number;
  readonly requestId: string;
  /** When the request came, by `performance.now()`. */
  readonly startedAt: number;
  /** The time it has; of an export, until its first rows and between any two. */
  readonly timeoutMs: number;
  /** An export goes on as long as its rows flow: no time passes while they are taken. */
  readonly isExport?: boolean;
  /** How far the tenant's entries are counted; null or absent where they must be counted themselves. */
  readonly cover?: VolumeCover | null;
  /** The set that it looks at, where there are several; absent: the only one. */
  readonly set?: string;
  /** The tenant's queries used much CPU of late: those of others go first in ClickHouse. */
  readonly isHeavy?: boolean;
  /** Aborted when no client waits for the answer any more. */
  readonly signal: AbortSignal;
};

export type EngineAnswer = Pick<RouteAnswer, 'headers' | 'body' | 'stream'>;

/** Runs queries, in this process or in others. Rejects with HttpError, or with what went wrong unexpectedly. */
export interface QueryEngine {
  run(job: QueryJob): Promise<EngineAnswer>;
}

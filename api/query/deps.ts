import type { LogEntry } from '../../pipeline/core/entry.ts';
import { MAX_TIME, MIN_TIME } from '../../pipeline/core/time.ts';
import type { PlanOptions } from '../../logsql/planner/planner.ts';
import type { QueryMemory } from '../../logsql/base/memory.ts';
import type { Table } from '../../logsql/base/table.ts';
import type { VolumeCover } from '../../logsql/planner/volume.ts';
import type { Filter, QueryNode } from '../../logsql/base/types.ts';
import type { Runner } from './runner.ts';
import type { SpanCover } from './span-cover.ts';
import { runQuery } from './run.ts';
import { retentionFloor, type Window } from './window.ts';

/**
 * Who sends the query, for how long its entries are kept (days; 0 for ever), when it came (`performance.now()`) and when to give up:
 * `signal` is aborted when the client disconnects or the time (milliseconds) is up, `timeout` in the latter case alone.
 */
export type Request = {
  readonly tenantId: number;
  /** The set that it looks at, where there are several; null: the only one. */
  readonly set: string | null;
  /** What every entry that is looked at must match; null: nothing. */
  readonly narrowedTo: Filter | null;
  readonly retentionDays: number;
  readonly startedAt: number;
  readonly timeoutMs: number;
  readonly timeout: AbortSignal;
  readonly signal: AbortSignal;
  readonly requestId: string;
  /** How far the tenant's entries are counted already. */
  readonly cover: VolumeCover | null;
};

/** What the endpoints stand on. */
export type Deps = {
  /** The table that queries look at. */
  readonly table: Table;
  /** Nanoseconds since the epoch. */
  now(): bigint;
  /** What the query may hold. */
  readonly memory: QueryMemory;
  /** Most fields of an answer of `/facets`. */
  readonly maxFacetFields: number;
  runner(request: Request): Runner;
  /** What is known of patterns. */
  readonly patterns: KnownPatterns;
  /** How far spans are counted. */
  readonly spanCovers: KnownSpanCovers;
};

/** What is known of the cluster of a pattern: its root's fingerprint, when its first entry came, and how many came as long as they are kept. */
export type KnownPattern = { readonly fingerprint: string; readonly firstSeen: string; readonly occurrences: number };

/** Knows patterns, as entries are enriched with it. */
export interface KnownPatterns {
  /** By the first 16 digits of the fingerprint of a message; without those that are not known. Never rejects. */
  of(patterns: Iterable<string>, request: Request, deps: Deps): Promise<ReadonlyMap<string, KnownPattern>>;
}

/** Knows how far the spans of tenants are counted. */
export interface KnownSpanCovers {
  /** Of the tenant of a request, in the set that it looks at: as it is, or was some seconds ago. */
  of(request: Request, deps: Deps): Promise<SpanCover>;
}

/** The options of a plan for this request. */
export function planOptions(window: Window, request: Request, deps: Deps): PlanOptions {
  const widest = { start: retentionFloor(deps.now(), request.retentionDays) ?? MIN_TIME, end: MAX_TIME };
  const { table, memory } = deps;
  const extra = request.narrowedTo === null ? {} : { extra: request.narrowedTo };
  return { table, tenantId: request.tenantId, start: window.start, end: window.end, widest, memory, cover: request.cover, ...extra };
}

/** All rows of a query that groups or counts. Throws LogsqlLimitError. */
export async function rowsOf(query: QueryNode, window: Window, request: Request, deps: Deps): Promise<readonly LogEntry[]> {
  return runQuery(query, planOptions(window, request, deps), deps.runner(request));
}

import { HttpError } from '../../pipeline/core/errors.ts';
import { conjunction, ofTenant, sql, uint32, uint64, type Sql } from '../../pipeline/core/sql.ts';
import type { Row } from '../../pipeline/store/client.ts';
import type { Deps, Request } from '../query/deps.ts';
import type { SpanCover } from '../query/span-cover.ts';
import { tenantRows } from '../query/tenant-rows.ts';
import { readWindow, windowMember } from '../query/window.ts';
import type { TraceWindow } from './parameters.ts';
import { countedRows, nearUndecided, OF_EDGE, OF_MISSED, undecidedSpans } from './derived.ts';
import { isWithin, type Span } from './span-filter.ts';
import { PLACE } from './stored-span.ts';

/** Undecided spans that are looked at at once, about; and how often that is done. Of more so many traces are looked at. */
const MAX_JOINED_ROWS = 500_000;
const MAX_JOINS = 8;
/** Edges of an answer, those with most calls. */
const MAX_EDGES = 10_000;
/** How long before its child a parent may have begun. Nanoseconds. */
const MARGIN = 600_000_000_000n;

/** Calls from a service to another one. */
type Edge = { readonly caller: string; readonly callee: string; readonly calls: number; readonly errors: number };

/**
 * Edges, and of how many traces in a row of those that are not counted yet one was looked at: 1, unless there are too many; how many spans have a
 * parent that was not found in time, and how many were not looked at, since there were too many at a time.
 */
type ServiceMap = { readonly edges: readonly Edge[]; readonly sampled: number; readonly unmatched: number; readonly missed: number };

/** `GET /service-map`: which services call which in a window. */
export async function serviceMap({ start, end }: TraceWindow, request: Request, deps: Deps): Promise<string> {
  const window = readWindow(start, end, deps.now(), request.retentionDays);
  const { edges, ...more } = await edgesIn(window, request, deps);
  return `{"edges":${JSON.stringify(edges)},${JSON.stringify(more).slice(1, -1)},${windowMember(window)}}`;
}

/** The calls between services: what is counted, and those of spans for which that is not decided yet, each whose parent is in another service. */
export async function edgesIn(window: Span, request: Request, deps: Deps): Promise<ServiceMap> {
  const cover = await deps.spanCovers.of(request, deps);
  const edges = new Edges();
  const [counted, { sampled }] = await Promise.all([
    tenantRows(countedEdges(window, cover, request), request, deps),
    addUndecided(edges, window, cover, request, deps),
  ]);
  let [unmatched, missed] = [0, 0];
  for (const [scope, caller, callee, calls, errors] of counted)
    if (Number(scope) === OF_MISSED) missed += Number(calls);
    else if (caller === '') unmatched += Number(calls);
    else edges.add(String(caller), String(callee), Number(calls), Number(errors));
  return { edges: edges.largest(), sampled, unmatched, missed };
}

/** Calls by caller and callee. */
class Edges {
  readonly #all = new Map<string, Edge>();

  add(caller: string, callee: string, calls: number, errors: number): void {
    const key = JSON.stringify([caller, callee]);
    const known = this.#all.get(key) ?? { calls: 0, errors: 0 };
    this.#all.set(key, { caller, callee, calls: known.calls + calls, errors: known.errors + errors });
  }

  /** Caller, callee, calls and errors, each of which stands for so many. */
  addRows(rows: readonly Row[], sampled: number): void {
    for (const [caller, callee, calls, errors] of rows)
      this.add(String(caller), String(callee), Number(calls) * sampled, Number(errors) * sampled);
  }

  largest(): readonly Edge[] {
    const all = [...this.#all.values()].map((edge) => ({ ...edge, calls: Math.round(edge.calls), errors: Math.round(edge.errors) }));
    return all.sort((a, b) => b.calls - a.calls || (a.caller + a.callee < b.caller + b.callee ? -1 : 1)).slice(0, MAX_EDGES);
  }
}

/** Equal rows are the same one, which was written twice. */
const countedEdges = (window: Span, cover: SpanCover, request: Request): Sql =>
  sql`SELECT scope, caller, service, sum(calls), sum(wrong) FROM (SELECT scope, caller, service, any(spans) AS calls, any(errors) AS wrong FROM ${countedRows(sql`scope, caller, service, span, time, retention_days, log_part, segment, spans, errors`, window, cover, { scopes: [OF_EDGE, OF_MISSED], request })} GROUP BY scope, caller, service, span, time, retention_days, log_part, segment) GROUP BY scope, caller, service ORDER BY sum(calls) DESC LIMIT ${uint32(2 * MAX_EDGES)}`;

/** Adds the edges of the spans that are not decided yet. Whole traces are left out where there are too many. */
async function addUndecided(
  edges: Edges,
  window: Span,
  cover: SpanCover,
  request: Request,
  deps: Deps,
): Promise<{ readonly sampled: number }> {
  const whole = await fewUndecided(undecidedEdges(window, ALL, cover, request), request, deps);
  if (whole !== null) {
    edges.addRows(whole, 1);
    return { sampled: 1 };
  }
  const [counted] = await tenantRows(
    sql`SELECT count() FROM spans WHERE ${conjunction([ofTenant(request.tenantId), isWithin(window), undecidedSpans(cover)])}`,
    request,
    deps,
  );
  const parts = Math.max(1, Math.ceil(Number(counted?.[0] ?? 0) / MAX_JOINED_ROWS));
  const joins = Math.min(parts, MAX_JOINS);
  const sampled = parts / joins;
  for (let part = 0; part < joins; part++)
    edges.addRows(await tenantRows(undecidedEdges(window, { parts, part }, cover, request), request, deps), sampled);
  return { sampled };
}

/** The rows of a statement; null where it would look at too many spans, or took too long. */
async function fewUndecided(statement: Sql, request: Request, deps: Deps): Promise<readonly Row[] | null> {
  const { store, options } = deps.runner(request);
  try {
    return await store.rows(statement, { ...options, settings: { ...options.settings, max_rows_to_read: 2 * MAX_JOINED_ROWS } });
  } catch (error) {
    if (error instanceof HttpError && error.status === TOO_MUCH) return null;
    throw error;
  }
}

/** What a statement that is too large ends with. */
const TOO_MUCH = 504;

/** Of how many parts of all traces one is looked at. */
type TracePart = { readonly parts: number; readonly part: number };
const ALL: TracePart = { parts: 1, part: 0 };

/**
 * The edges of a part of all traces. Each span stands under its own id, and under that of its parent if its edge is not decided: so the table is read
 * once. A client and its server may share an id: what is called by either is called by the server.
 */
function undecidedEdges(window: Span, { parts, part }: TracePart, cover: SpanCover, { tenantId }: Request): Sql {
  const ofPart = parts === 1 ? [] : [sql`cityHash64(trace_id) % ${uint64(parts)} = ${uint64(part)}`];
  const near = conjunction([ofTenant(tenantId), isWithin({ ...window, start: window.start - MARGIN }), nearUndecided(cover), ...ofPart]);
  const isChild = conjunction([isWithin(window), undecidedSpans(cover), sql`parent_span_id != toFixedString('', 8)`]);
  const once = sql`SELECT trace_id, span_id, kind, groupArray(service) AS services, max(${isChild}) AS is_child, argMaxIf((service, parent_span_id, status), ${PLACE}, ${isChild}) AS last FROM spans WHERE ${near} GROUP BY trace_id, span_id, kind`;
  const places = sql`SELECT trace_id, kind, services, last, arrayJoin(if(is_child, [(span_id, 1), (last.2, 0)], [(span_id, 1)])) AS place FROM (${once})`;
  const calls = sql`SELECT argMaxIf(services[1], kind = 2, place.2 = 1) AS caller, groupArrayArrayIf(services, place.2 = 1) AS callers, groupArrayIf((last.1, last.3), place.2 = 0) AS children FROM (${places}) GROUP BY trace_id, place.1 HAVING notEmpty(callers) AND notEmpty(children)`;
  return sql`SELECT caller, child.1 AS callee, count(), countIf(child.2 = 2) FROM (${calls}) ARRAY JOIN children AS child WHERE NOT has(callers, callee) GROUP BY caller, callee ORDER BY count() DESC LIMIT ${uint32(MAX_EDGES)}`;
}

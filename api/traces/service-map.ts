import { conjunction, ofTenant, sql, uint32, uint64, type Sql } from '../../pipeline/core/sql.ts';
import type { Deps, Request } from '../query/deps.ts';
import { tenantRows } from '../query/tenant-rows.ts';
import { readWindow, windowMember } from '../query/window.ts';
import type { TraceWindow } from './parameters.ts';
import { isWithin, type Span } from './span-filter.ts';
import { PLACE } from './stored-span.ts';

/** Rows that are joined at once, about; and how often that is done. Of more rows so many traces are looked at. */
const MAX_JOINED_ROWS = 1_000_000;
const MAX_JOINS = 4;
/** Edges of an answer, those with most calls. */
const MAX_EDGES = 10_000;
/** How long before its child a parent may have begun. Nanoseconds. */
const MARGIN = 600_000_000_000n;

/** Calls from a service to another one. */
type Edge = { readonly caller: string; readonly callee: string; readonly calls: number; readonly errors: number };

/** Edges, and of how many traces in a row of them one was looked at: 1, unless there are too many. */
type ServiceMap = { readonly edges: readonly Edge[]; readonly sampled: number };

/** `GET /service-map`: which services call which in a window. */
export async function serviceMap({ start, end }: TraceWindow, request: Request, deps: Deps): Promise<string> {
  const window = readWindow(start, end, deps.now(), request.retentionDays);
  const { edges, sampled } = await edgesIn(window, request, deps);
  return `{"edges":${JSON.stringify(edges)},"sampled":${String(sampled)},${windowMember(window)}}`;
}

/** The calls between services: each span whose parent is in another service. Whole traces are left out where there are too many. */
export async function edgesIn(window: Span, request: Request, deps: Deps): Promise<ServiceMap> {
  const [counted] = await tenantRows(
    sql`SELECT count() FROM spans WHERE ${conjunction([ofTenant(request.tenantId), isWithin(window)])}`,
    request,
    deps,
  );
  const parts = Math.max(1, Math.ceil(Number(counted?.[0] ?? 0) / MAX_JOINED_ROWS));
  const joins = Math.min(parts, MAX_JOINS);
  const sampled = parts / joins;
  const edges = new Map<string, Edge>();
  for (let part = 0; part < joins; part++)
    for (const [caller, callee, calls, errors] of await tenantRows(statement(window, { parts, part }, request.tenantId), request, deps)) {
      const key = JSON.stringify([caller, callee]);
      const known = edges.get(key) ?? { calls: 0, errors: 0 };
      edges.set(key, {
        ...{ caller: String(caller), callee: String(callee) },
        ...{ calls: known.calls + Number(calls) * sampled, errors: known.errors + Number(errors) * sampled },
      });
    }
  const all = [...edges.values()].map((edge) => ({ ...edge, calls: Math.round(edge.calls), errors: Math.round(edge.errors) }));
  return {
    edges: all.sort((a, b) => b.calls - a.calls || (a.caller + a.callee < b.caller + b.callee ? -1 : 1)).slice(0, MAX_EDGES),
    sampled,
  };
}

/** The edges of a part of all traces. A client and its server may share an id: what is called by either is called by the server. */
function statement(window: Span, { parts, part }: { readonly parts: number; readonly part: number }, tenantId: number): Sql {
  const own = (span: Span): Sql =>
    conjunction([ofTenant(tenantId), isWithin(span), sql`cityHash64(trace_id) % ${uint64(parts)} = ${uint64(part)}`]);
  const children = sql`SELECT trace_id, argMax((service, parent_span_id, status), ${PLACE}) AS last, last.1 AS callee, last.2 AS parent, last.3 AS state FROM spans WHERE ${own(window)} AND parent_span_id != toFixedString('', 8) GROUP BY trace_id, span_id, kind`;
  const parents = sql`SELECT trace_id, span_id, argMax(service, kind = 2) AS caller, groupUniqArray(service) AS callers FROM spans WHERE ${own({ ...window, start: window.start - MARGIN })} GROUP BY trace_id, span_id`;
  return sql`SELECT caller, callee, count(), countIf(state = 2) FROM (${children}) AS child INNER JOIN (${parents}) AS above ON child.trace_id = above.trace_id AND child.parent = above.span_id WHERE NOT has(callers, callee) GROUP BY caller, callee ORDER BY count() DESC LIMIT ${uint32(MAX_EDGES)}`;
}

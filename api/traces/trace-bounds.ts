import { conjunction, ofTenant, sql, texts, type Sql } from '../../pipeline/core/sql.ts';
import type { Row } from '../../pipeline/store/client.ts';
import type { Deps, Request } from '../query/deps.ts';
import { tenantRows } from '../query/tenant-rows.ts';
import { retentionFloor } from '../query/window.ts';
import { isOneOf, isWithin, type Span } from './span-filter.ts';

/** Where the spans of a trace are: when they begin, first and last, and in which services; and how many rows they have, copies too. */
export type TraceBounds = Span & { readonly id: string; readonly services: readonly string[]; readonly rows: number };

/**
 * The bounds of traces, by their ids of 32 hex digits; without those that the tenant does not have. It is answered by the projection `traces`
 * alone, so it needs no window (docs/adr/0042-spans.md). What is too old for the plan is left out.
 */
export async function traceBounds(ids: readonly string[], request: Request, deps: Deps): Promise<TraceBounds[]> {
  if (ids.length === 0) return [];
  const statement = sql`SELECT lower(hex(trace_id)), toString(reinterpretAsInt64(min(time))), toString(reinterpretAsInt64(max(time))), groupUniqArray(service), count() FROM spans WHERE ${ofTenant(request.tenantId)} AND ${isOneOf(ids)} GROUP BY tenant_id, trace_id`;
  const floor = retentionFloor(deps.now(), request.retentionDays);
  return (await tenantRows(statement, request, deps)).flatMap((row) => {
    const bounds = boundsOf(row);
    if (floor === null || bounds.start >= floor) return [bounds];
    return bounds.end < floor ? [] : [{ ...bounds, start: floor }];
  });
}

const boundsOf = ([id, first, last, services, rows]: Row): TraceBounds => ({
  ...{ id: String(id), start: BigInt(String(first)), end: BigInt(String(last)) },
  ...{ services: services as string[], rows: Number(rows) },
});

/** The condition of the spans of these traces: by the key of the table, then by their ids. */
export function spansOf(traces: readonly TraceBounds[], tenantId: number): Sql {
  const services = [...new Set(traces.flatMap((trace) => trace.services))];
  const start = traces.reduce((least, trace) => (trace.start < least ? trace.start : least), traces[0]?.start ?? 0n);
  const end = traces.reduce((most, trace) => (trace.end > most ? trace.end : most), traces[0]?.end ?? 0n);
  return conjunction([
    ofTenant(tenantId),
    sql`service IN ${texts(services)}`,
    isWithin({ start, end }),
    isOneOf(traces.map(({ id }) => id)),
  ]);
}

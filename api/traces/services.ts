import { sql, text, uint32 } from '../../pipeline/core/sql.ts';
import { formatTime } from '../../pipeline/core/time.ts';
import type { Deps, Request } from '../query/deps.ts';
import { tenantRows } from '../query/tenant-rows.ts';
import { readWindow, windowMember, type Window } from '../query/window.ts';
import { countedRows, OF_OPERATION, uncountedIn } from './derived.ts';
import { KINDS, type TraceWindow } from './parameters.ts';
import type { Span } from './span-filter.ts';

/** Services, and operations of a service, of an answer. */
export const MAX_NAMES = 10_000;

/** An operation of a service, the kind of its spans as OTLP numbers it, and when the last one begins: nanoseconds, of a whole second. */
export type Operation = { readonly name: string; readonly kind: number; readonly lastSeen: bigint };

/** The services that have spans in a window, by name: what is counted, and what is not yet. */
export async function servicesIn(window: Span, request: Request, deps: Deps): Promise<string[]> {
  const cover = await deps.spanCovers.of(request, deps);
  const counted = sql`SELECT service FROM ${countedRows(sql`service`, window, cover, { scopes: [OF_OPERATION], request })} GROUP BY service`;
  const others = sql`SELECT service FROM spans WHERE ${uncountedIn(window, cover, request)} GROUP BY service`;
  const rows = await tenantRows(
    sql`SELECT service FROM (${counted} UNION ALL ${others}) GROUP BY service ORDER BY service LIMIT ${uint32(MAX_NAMES + 1)}`,
    request,
    deps,
  );
  return rows.map(([service]) => String(service));
}

/** The operations of a service in a window, by name. */
export async function operationsIn(service: string, window: Span, request: Request, deps: Deps): Promise<Operation[]> {
  const cover = await deps.spanCovers.of(request, deps);
  const own = sql`service = ${text(service)}`;
  const counted = sql`SELECT operation AS name, kind, max(toUnixTimestamp(last)) AS seen FROM ${countedRows(sql`operation, kind, last`, window, cover, { scopes: [OF_OPERATION], request, more: own })} GROUP BY name, kind`;
  const others = sql`SELECT toString(name) AS name, kind, max(toUnixTimestamp(time)) AS seen FROM spans WHERE ${uncountedIn(window, cover, request)} AND ${own} GROUP BY name, kind`;
  const rows = await tenantRows(
    sql`SELECT name, kind, max(seen) FROM (${counted} UNION ALL ${others}) GROUP BY name, kind ORDER BY name, kind LIMIT ${uint32(MAX_NAMES + 1)}`,
    request,
    deps,
  );
  return rows.map(([name, kind, seen]) => ({ name: String(name), kind: Number(kind), lastSeen: BigInt(String(seen)) * 1_000_000_000n }));
}

/** `GET /services`: the services that have spans in the window. */
export async function services({ start, end }: TraceWindow, request: Request, deps: Deps): Promise<string> {
  const window = readWindow(start, end, deps.now(), request.retentionDays);
  return listOf('services', await servicesIn(window, request, deps), window);
}

/** `GET /services/{service}/operations`: what spans of a service in the window are called, with their kinds. */
export async function operations(
  { service, start, end }: TraceWindow & { readonly service: string },
  request: Request,
  deps: Deps,
): Promise<string> {
  const window = readWindow(start, end, deps.now(), request.retentionDays);
  const found = await operationsIn(service, window, request, deps);
  return listOf(
    'operations',
    found.map(({ name, kind, lastSeen }) => ({ name, kind: KINDS[kind], last_seen: formatTime(lastSeen) })),
    window,
  );
}

/** As many as an answer has, and whether there are more. */
const listOf = (name: string, found: readonly unknown[], window: Window): string =>
  `{"${name}":${JSON.stringify(found.slice(0, MAX_NAMES))},"has_more":${String(found.length > MAX_NAMES)},${windowMember(window)}}`;

import { conjunction, ofTenant, sql, text, uint32 } from '../../pipeline/core/sql.ts';
import type { Deps, Request } from '../query/deps.ts';
import { tenantRows } from '../query/tenant-rows.ts';
import { readWindow, windowMember, type Window } from '../query/window.ts';
import { KINDS, type TraceWindow } from './parameters.ts';
import { isWithin, type Span } from './span-filter.ts';

/** Services, and operations of a service, of an answer. */
export const MAX_NAMES = 10_000;

/** An operation of a service, and the kind of its spans as OTLP numbers it. */
export type Operation = { readonly name: string; readonly kind: number };

/** The services that have spans in a window, by name. */
export async function servicesIn(window: Span, request: Request, deps: Deps): Promise<string[]> {
  const where = conjunction([ofTenant(request.tenantId), isWithin(window)]);
  const rows = await tenantRows(
    sql`SELECT service FROM spans WHERE ${where} GROUP BY service ORDER BY service LIMIT ${uint32(MAX_NAMES + 1)}`,
    request,
    deps,
  );
  return rows.map(([service]) => String(service));
}

/** The operations of a service in a window, by name. */
export async function operationsIn(service: string, window: Span, request: Request, deps: Deps): Promise<Operation[]> {
  const where = conjunction([ofTenant(request.tenantId), sql`service = ${text(service)}`, isWithin(window)]);
  const rows = await tenantRows(
    sql`SELECT name, kind FROM spans WHERE ${where} GROUP BY name, kind ORDER BY name, kind LIMIT ${uint32(MAX_NAMES + 1)}`,
    request,
    deps,
  );
  return rows.map(([name, kind]) => ({ name: String(name), kind: Number(kind) }));
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
    found.map(({ name, kind }) => ({ name, kind: KINDS[kind] })),
    window,
  );
}

/** As many as an answer has, and whether there are more. */
const listOf = (name: string, found: readonly unknown[], window: Window): string =>
  `{"${name}":${JSON.stringify(found.slice(0, MAX_NAMES))},"has_more":${String(found.length > MAX_NAMES)},${windowMember(window)}}`;

import type { Alert } from '../../pipeline/alerting/book/alert.ts';
import { shownAlert, type ShownAlert, type Why } from '../../pipeline/alerting/book/shown-alert.ts';
import { HttpError } from '../../pipeline/core/errors.ts';
import { conjunction, int64, ofTenant, sql, text, uint32, uint64s, type Sql } from '../../pipeline/core/sql.ts';
import type { Row } from '../../pipeline/store/client.ts';
import type { Deps, Request } from '../query/deps.ts';
import type { AlertParameters, AlertsParameters } from '../query/parameters.ts';
import { ofProject } from '../query/project-alerts.ts';
import { tenantRows } from '../query/tenant-rows.ts';
import { retentionFloor, timeOf } from '../query/window.ts';
import { notAfter, notBefore } from './time-bounds.ts';

const SECOND = 1_000_000_000n;
/** Without `state`, `since` and `until`, alerts that were resolved within this time are listed too. Nanoseconds. */
const RECENT = 86_400n * SECOND;
/** Strings of a page, bytes. */
const MOST_BYTES = 8n * 1024n * 1024n;
/** No statement reads more alerts than a page and the incidents of one have. */
const ONE = { limit: 1, offset: 0 };

/** `GET /alerts`: a page of the alerts of a tenant, newest first. */
export async function alerts(parameters: AlertsParameters, request: Request, deps: Deps): Promise<string> {
  const { limit, offset } = parameters;
  const found = await readAlerts(await whereOf(parameters, request, deps), { limit, offset }, request, deps);
  const { items, total } = found;
  return JSON.stringify({ items, total, limit, offset, has_more: offset + items.length < total });
}

/** `GET /alerts/{id}`. Throws HttpError 404 for one that the tenant does not have. */
export async function alert({ id }: AlertParameters, request: Request, deps: Deps): Promise<string> {
  const where = { fixed: [...(await ownOf(request, deps)), sql`id = ${int64(id)}`], last: [] };
  const [found] = (await readAlerts(where, ONE, request, deps)).items;
  if (found === undefined) throw new HttpError(404, 'not_found', `There is no alert ${String(id)}.`);
  return JSON.stringify(found);
}

/** Conditions on what an alert never changes, and on its last row. */
export type Where = { readonly fixed: readonly Sql[]; readonly last: readonly Sql[] };

/** The tenant, or the project of its key, and what its plan still shows. Throws HttpError 403 for a project that alerts cannot be narrowed to. */
export async function ownOf(request: Request, deps: Deps): Promise<Sql[]> {
  const floor = retentionFloor(deps.now(), request.retentionDays);
  const narrowed = request.narrowedTo === null ? [] : await ofProject(request.narrowedTo, request, deps);
  const own = [ofTenant(request.tenantId), sql`part = 0`, ...narrowed];
  return floor === null ? own : [...own, notBefore(sql`fired_at`, floor)];
}

/** Whether an alert was resolved lately enough to be listed by default. */
export const isLate = (resolvedAt: Sql, now: bigint): Sql => notBefore(resolvedAt, now - RECENT);

async function whereOf(parameters: AlertsParameters, request: Request, deps: Deps): Promise<Where> {
  const now = deps.now();
  const { state, severity, since, until, detector_type: detector, service } = parameters;
  const isRecent = sql`(state = 'firing' OR ${isLate(sql`resolved_at`, now)})`;
  return {
    fixed: [
      ...(await ownOf(request, deps)),
      ...(since === null ? [] : [notBefore(sql`fired_at`, timeOf('since', since, now).start)]),
      ...(until === null ? [] : [notAfter(sql`fired_at`, timeOf('until', until, now).end)]),
      ...(detector === null ? [] : [sql`detector = ${text(detector)}`]),
      ...(service === null ? [] : [sql`service = ${text(service)}`]),
    ],
    last: [
      ...(state === null && since === null && until === null ? [isRecent] : []),
      ...(state === null || state === 'all' ? [] : [sql`state = ${text(state)}`]),
      ...(severity === null || severity === 'all' ? [] : [sql`severity = ${text(severity)}`]),
    ],
  };
}

/** The condition of rows that are the last word on their alert. */
export function latestRows({ fixed, last }: Where): Sql {
  const all = conjunction(fixed);
  return conjunction([all, sql`(id, version) IN (SELECT id, max(version) FROM alerts WHERE ${all} GROUP BY id)`, ...last]);
}

/** What is shown of a row, in this order. */
const COLUMNS = sql`toString(id), detector, stream, severity, title, description, evidence, state, toString(reinterpretAsInt64(fired_at)), fire_count, toString(reinterpretAsInt64(resolved_at)), toString(reinterpretAsInt64(updated_at)), note, toString(incident_id)`;
const NEWEST_FIRST = sql`fired_at DESC, id DESC`;

/**
 * The last row of each alert: the one with the highest version, which may be there twice. The items end where their strings have 8 MiB
 * together, behind the first one at the earliest.
 */
export async function readAlerts(
  { fixed, last }: Where,
  { limit, offset }: { readonly limit: number; readonly offset: number },
  request: Request,
  deps: Deps,
): Promise<{ readonly items: readonly ShownAlert[]; readonly total: number }> {
  const where = latestRows({ fixed, last });
  const [rows, counts] = await Promise.all([
    tenantRows(
      sql`SELECT ${COLUMNS} FROM (SELECT *, sum(size) OVER (ORDER BY ${NEWEST_FIRST}) - size AS before FROM (SELECT *, length(stream) + length(description) + length(evidence) AS size FROM alerts WHERE ${where} ORDER BY ${NEWEST_FIRST} LIMIT 1 BY id LIMIT ${uint32(limit)} OFFSET ${uint32(offset)})) WHERE before < ${int64(MOST_BYTES)} ORDER BY ${NEWEST_FIRST}`,
      request,
      deps,
    ),
    tenantRows(sql`SELECT toString(uniqExact(id)) FROM alerts WHERE ${where}`, request, deps),
  ]);
  const why = await whyOf(rows.map(([id]) => Number(id)), request, deps); // prettier-ignore
  return { items: rows.map((row) => render(row, why)), total: totalOf(rows.length, offset, counts) };
}

/** How many there are, of a count and a page: alerts that came between the two statements are in the page alone. */
export function totalOf(onPage: number, offset: number, counts: readonly Row[]): number {
  const counted = Number(counts[0]?.[0] ?? 0);
  return onPage === 0 ? counted : Math.max(counted, offset + onPage);
}

/** What has changed about each of these alerts, where it was found. */
async function whyOf(ids: readonly number[], request: Request, deps: Deps): Promise<ReadonlyMap<number, Why>> {
  // it compares with entries of the whole tenant
  if (ids.length === 0 || request.narrowedTo !== null) return new Map();
  const rows = await tenantRows(
    sql`SELECT toString(id), argMax(evidence, version), argMax(title, version), argMax(description, version) FROM alerts WHERE ${ofTenant(request.tenantId)} AND part = 1 AND id IN ${uint64s(ids)} GROUP BY id`,
    request,
    deps,
  );
  return new Map(
    rows.map(([id, evidence, title, description]) => [
      Number(id),
      { evidence: String(evidence), title: String(title), description: String(description) },
    ]),
  );
}

/** A row of `readAlerts`, as it is shown. */
function render(row: Row, why: ReadonlyMap<number, Why>): ShownAlert {
  const [id, detector, stream, severity, title, description, evidence, state, firedAt, fireCount, resolvedAt, updatedAt, note, incident] =
    row.map(String) as [string, string, string, string, string, string, string, string, string, string, string, string, string, string];
  const alert = {
    ...{ id: Number(id), detector, stream, title, description, evidence, note },
    ...{ severity: severity as Alert['severity'], state: state as Alert['state'] },
    ...{ firedAt: Number(firedAt), fireCount: Number(fireCount), updatedAt: Number(updatedAt) },
    ...{ resolvedAt: Number(resolvedAt), incidentId: Number(incident) },
  };
  return shownAlert(alert, why.get(alert.id) ?? null);
}

import { HttpError } from '../../pipeline/core/errors.ts';
import { conjunction, int64, sql, text, uint32, uint64s, type Sql } from '../../pipeline/core/sql.ts';
import { isLate, latestRows, ownOf, readAlerts, totalOf } from './alerts.ts';
import { notAfter, notBefore } from './time-bounds.ts';
import { tenantRows } from '../query/tenant-rows.ts';
import { timeOf } from '../query/window.ts';
import { timeText, type ShownAlert } from '../../pipeline/alerting/book/shown-alert.ts';
import type { Deps, Request } from '../query/deps.ts';
import type { AlertParameters, IncidentsParameters } from '../query/parameters.ts';

/** Alerts that an answer shows, of all its incidents together. */
const MOST_ALERTS = 2000;

/** Alerts of a service that fired together, as clients see them. Times are ISO 8601. */
export type IncidentAnswer = {
  readonly id: number;
  readonly service: string;
  /** `firing` as long as one of its alerts is. */
  readonly state: string;
  /** The highest one of its alerts. */
  readonly severity: string;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly last_updated_at: string;
  readonly alert_count: number;
  /** The newest first; of a page that has more than 2,000 the newest of all. */
  readonly alerts: readonly ShownAlert[];
};

/** `GET /incidents`: a page of the incidents of a tenant with their alerts, newest first. */
export async function incidents(parameters: IncidentsParameters, request: Request, deps: Deps): Promise<string> {
  const { limit, offset, service } = parameters;
  const fixed = service === null ? [] : [sql`service = ${text(service)}`];
  const { items, total } = await read(fixed, havingOf(parameters, deps), { limit, offset }, request, deps);
  return JSON.stringify({ items, total, limit, offset, has_more: offset + items.length < total });
}

/** `GET /incidents/{id}`. Throws HttpError 404 for one that the tenant does not have. */
export async function incident({ id }: AlertParameters, request: Request, deps: Deps): Promise<string> {
  const [found] = (await read([sql`incident_id = ${int64(id)}`], [], { limit: 1, offset: 0 }, request, deps)).items;
  if (found === undefined) throw new HttpError(404, 'not_found', `There is no incident ${String(id)}.`);
  return JSON.stringify(found);
}

/** Conditions on the alerts of an incident together. */
function havingOf({ state, since, until }: IncidentsParameters, deps: Deps): Sql[] {
  const now = deps.now();
  const firing = sql`countIf(state = 'firing')`;
  const isRecent = sql`(${firing} > 0 OR ${isLate(sql`max(resolved_at)`, now)})`;
  return [
    ...(state === 'firing' ? [sql`${firing} > 0`] : []),
    ...(state === 'resolved' ? [sql`${firing} = 0`] : []),
    ...(state === null && since === null && until === null ? [isRecent] : []),
    ...(since === null ? [] : [notBefore(sql`min(fired_at)`, timeOf('since', since, now).start)]),
    ...(until === null ? [] : [notAfter(sql`min(fired_at)`, timeOf('until', until, now).end)]),
  ];
}

async function read(
  conditions: readonly Sql[],
  having: readonly Sql[],
  { limit, offset }: { readonly limit: number; readonly offset: number },
  request: Request,
  deps: Deps,
): Promise<{ readonly items: readonly IncidentAnswer[]; readonly total: number }> {
  const fixed = [...(await ownOf(request, deps)), sql`incident_id != 0`, ...conditions];
  const last = sql`SELECT incident_id, service, state, severity, fired_at, updated_at, resolved_at FROM alerts WHERE ${latestRows({ fixed, last: [] })} LIMIT 1 BY id`;
  const groups = sql`FROM (${last}) GROUP BY incident_id HAVING ${conjunction([sql`count() > 0`, ...having])}`;
  const [rows, counts] = await Promise.all([
    tenantRows(
      sql`SELECT toString(incident_id), any(service), toString(countIf(state = 'firing')), toString(countIf(severity = 'critical')), toString(countIf(severity = 'warning')), toString(reinterpretAsInt64(min(fired_at))), toString(reinterpretAsInt64(max(resolved_at))), toString(reinterpretAsInt64(max(updated_at))), toString(count()) ${groups} ORDER BY min(fired_at) DESC, incident_id DESC LIMIT ${uint32(limit)} OFFSET ${uint32(offset)}`,
      request,
      deps,
    ),
    tenantRows(sql`SELECT toString(count()) FROM (SELECT incident_id ${groups})`, request, deps),
  ]);
  const alerts = await alertsOf(rows.map(([id]) => Number(id)), request, deps); // prettier-ignore
  return {
    items: rows.map((row) => {
      const [id, service, firing, critical, warning, startedAt, resolvedAt, updatedAt, count] = row.map(String);
      return {
        ...{ id: Number(id), service: service ?? '', state: firing === '0' ? 'resolved' : 'firing' },
        severity: critical !== '0' ? 'critical' : warning !== '0' ? 'warning' : 'info',
        ...{
          started_at: timeText(startedAt),
          ended_at: firing === '0' ? timeText(resolvedAt) : null,
          last_updated_at: timeText(updatedAt),
        },
        alert_count: Number(count),
        alerts: alerts.filter(({ incident_id }) => incident_id === Number(id)),
      };
    }),
    total: totalOf(rows.length, offset, counts),
  };
}

async function alertsOf(ids: readonly number[], request: Request, deps: Deps): Promise<readonly ShownAlert[]> {
  if (ids.length === 0) return [];
  const where = { fixed: [...(await ownOf(request, deps)), sql`incident_id IN ${uint64s(ids)}`], last: [] };
  return (await readAlerts(where, { limit: MOST_ALERTS, offset: 0 }, request, deps)).items;
}

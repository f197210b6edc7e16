import { conjunction, ofTenant, sql, uint32 } from '../../pipeline/core/sql.ts';
import type { Deps, Request } from '../query/deps.ts';
import { tenantRows } from '../query/tenant-rows.ts';

/** Metrics and labels of an answer. */
const MOST = 20;
const DAY = 86_400_000_000_000n;

/** What the plan allows: most active series of a day; null for any number. */
export type CardinalityParameters = { readonly limit: number | null };

/**
 * `GET …/metrics/cardinality`: how many series are active today (UTC) and how many may be, with the metrics that have most of them and the labels that
 * have most values.
 */
export async function cardinality({ limit }: CardinalityParameters, request: Request, deps: Deps): Promise<string> {
  const today = Number(deps.now() / DAY);
  const where = conjunction([ofTenant(request.tenantId), sql`last >= toDate(${uint32(today)})`]);
  const [[count] = [], metrics, labels] = await Promise.all([
    tenantRows(sql`SELECT uniqExact(series) FROM series WHERE ${where}`, request, deps).then(([row]) => row),
    tenantRows(sql`SELECT metric, uniqExact(series) AS n FROM series WHERE ${where} GROUP BY metric ORDER BY n DESC, metric LIMIT ${uint32(MOST)}`, request, deps), // prettier-ignore
    tenantRows(sql`SELECT label, uniqExact(value) AS n FROM series_labels WHERE ${where} GROUP BY label ORDER BY n DESC, label LIMIT ${uint32(MOST)}`, request, deps), // prettier-ignore
  ]);
  return JSON.stringify({
    day: new Date(today * 86_400_000).toISOString().slice(0, 10),
    active_series: Number(count ?? 0),
    limit,
    metrics: metrics.map(([metric, series]) => ({ metric, series: Number(series) })),
    labels: labels.map(([label, values]) => ({ label, values: Number(values) })),
  });
}

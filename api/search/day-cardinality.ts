import { conjunction, ofTenant, sql, uint32 } from '../../pipeline/core/sql.ts';
import type { Deps, Request } from '../query/deps.ts';
import { tenantRows } from '../query/tenant-rows.ts';

const DAY = 86_400_000_000_000n;

/** Streams with stored entries of today (UTC), and series with stored samples of today, as JSON: `{"streams":3,"series":20}`. */
export async function dayCardinality(_parameters: unknown, request: Request, deps: Deps): Promise<string> {
  const today = uint32(Number(deps.now() / DAY));
  const own = ofTenant(request.tenantId);
  const [[streams] = [], [series] = []] = await Promise.all([
    tenantRows(sql`SELECT uniqExact(stream_id) FROM streams WHERE ${conjunction([own, sql`day = toDate(${today})`])}`, request, deps).then(([row]) => row), // prettier-ignore
    tenantRows(sql`SELECT uniqExact(series) FROM series WHERE ${conjunction([own, sql`last >= toDate(${today})`])}`, request, deps).then(([row]) => row), // prettier-ignore
  ]);
  return JSON.stringify({ streams: Number(streams ?? 0), series: Number(series ?? 0) });
}

/**
 * Fields of the map `fields` that have columns of their own too, which are far cheaper to read (pipeline/store/schema/002_logs.sql). A part
 * has one dictionary of such a column for all tenants, so it has short values alone; longer ones are in a column that is nearly always empty
 * (014_short_promoted.sql).
 */
import { Sql, sql } from '../../pipeline/core/sql.ts';
import type { Promoted } from '../base/table.ts';

/** Longer values are not in the columns with dictionaries (docs/limits.md). Bytes. */
export const MAX_PROMOTED_BYTES = 256;
const MOST = new Sql([String(MAX_PROMOTED_BYTES)], []);

const promotedOf = (short: Sql, long: Sql): Promoted => {
  const isLong = sql`length(${short}) > ${MOST}`;
  return { short, long, isLong, whole: sql`if(${isLong}, ${long}, ${short})` };
};

const LABELS: ReadonlyMap<string, Promoted> = new Map([
  ['app', promotedOf(sql`f_app`, sql`l_app`)],
  ['host', promotedOf(sql`f_host`, sql`l_host`)],
  ['env', promotedOf(sql`f_env`, sql`l_env`)],
  ['namespace', promotedOf(sql`f_namespace`, sql`l_namespace`)],
  ['pod', promotedOf(sql`f_pod`, sql`l_pod`)],
  ['container', promotedOf(sql`f_container`, sql`l_container`)],
  ['job', promotedOf(sql`f_job`, sql`l_job`)],
]);
const STATUS = promotedOf(sql`f_status`, sql`l_status`);

/** Of all promoted fields. */
export const PROMOTED: readonly Promoted[] = [...LABELS.values(), STATUS];

/** The columns of a promoted field; undefined for other fields. */
export const promoted = (field: string): Promoted | undefined => (field === 'status' ? STATUS : LABELS.get(field));

/** The columns of a promoted field whose short one the hourly counts have too. */
export const promotedLabel = (field: string): Promoted | undefined => LABELS.get(field);

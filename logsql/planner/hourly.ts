/**
 * Counting without reading entries: the projection `hourly` of the table `logs` (pipeline/store/schema/002_logs.sql) holds
 * how many entries there are for each hour, stream, level and label. ClickHouse uses it for a query that groups and filters by its
 * expressions alone. So they count the whole hours of a window, and the entries count the rest of it.
 */
import { conjunction, join, ofTenant, sql, type Sql } from '../../pipeline/core/sql.ts';
import { AndFilter, AnyFilter } from '../filters/logic.ts';
import { TimeFilter } from '../filters/time.ts';
import { momentSql } from '../sql/time.ts';
import { ENTRIES } from '../sql/counts.ts';
import type { Filter, SqlContext } from '../base/types.ts';
import type { TimeWindow } from '../base/time-window.ts';
import { labelColumn } from '../sql/promoted.ts';

/** An hour in nanoseconds. */
const HOUR = 3_600_000_000_000n;
export const HOUR_SECONDS = 3600;
/** With fewer whole hours than this, two statements cost more than they save. */
const MIN_HOURS = 2n;
/** The projection's expression, character for character. */
const HOUR_OF = sql`toStartOfInterval(_time, toIntervalNanosecond(3600000000000))`;

/** By which fields entries are to be counted, and by spans of at most `span` seconds. */
export type Counted = { readonly fields: readonly string[]; readonly span: number };

const floorHour = (ns: bigint): bigint => ns - (((ns % HOUR) + HOUR) % HOUR);

const columnOf = (field: string): Sql | undefined => {
  if (field === '_stream') return sql`stream_id`;
  if (field === 'level') return sql`level`;
  return field === 'service' ? sql`service` : labelColumn(field);
};

/**
 * What stands after FROM: rows with `_time` (the beginning of the hour), the columns of these fields, and `entries`. Null when the
 * counts do not have it, or would take longer than the entries do.
 */
export function hourlyCounts(filter: Filter, { fields, span }: Counted, window: TimeWindow, context: SqlContext): Sql | null {
  if (span < HOUR_SECONDS) return null;
  const end = window.end + 1n;
  const [from, to] = [floorHour(window.start + HOUR - 1n), floorHour(end)];
  if (to - from < MIN_HOURS * HOUR) return null;
  const columns = fields.filter((field) => field !== '_time').map(columnOf);
  const conditions = countedConditions(filter, (field) => field === '_stream_id' || columnOf(field) !== undefined, context);
  // All entries of a window are counted without reading any.
  if (conditions === null || !columns.every((column) => column !== undefined) || fields.length + conditions.length === 0) return null;
  const keys = [...(fields.includes('_time') ? [HOUR_OF] : []), ...columns];
  const count = (time: Sql): Sql => {
    const where = conjunction([ofTenant(context.tenantId), time, ...conditions]);
    const list = join([...(fields.includes('_time') ? [sql`${HOUR_OF} AS hour`] : []), ...columns, sql`count() AS entries`], sql`, `);
    return sql`SELECT ${list} FROM logs WHERE ${where}${keys.length === 0 ? sql`` : sql` GROUP BY ${join(keys, sql`, `)}`}`;
  };
  const parts = [count(sql`${HOUR_OF} >= ${momentSql(from)} AND ${HOUR_OF} < ${momentSql(to)}`)];
  if (window.start < from || to < end) {
    const before = sql`_time >= ${momentSql(window.start)} AND _time < ${momentSql(from)}`;
    parts.push(count(sql`(${before} OR _time >= ${momentSql(to)} AND _time <= ${momentSql(window.end)})`));
  }
  const list = join([...(fields.includes('_time') ? [sql`hour AS _time`] : []), ...columns, ENTRIES], sql`, `);
  return sql`(SELECT ${list} FROM (${join(parts, sql` UNION ALL `)}))`;
}

/** The filter over the columns of counts; null when it looks at others. The window stands for times. */
export function countedConditions(filter: Filter, isKnown: (field: string) => boolean, context: SqlContext): readonly Sql[] | null {
  const parts = (filter instanceof AndFilter ? filter.parts : [filter]).filter(
    (part) => !(part instanceof TimeFilter || part instanceof AnyFilter),
  );
  if (!parts.every(({ fields }) => fields.every(isKnown))) return null;
  const conditions = parts.map((part) => part.sql({ ...context, indexed: false }));
  return conditions.every((condition) => condition !== null) ? conditions : null;
}

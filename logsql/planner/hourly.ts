/**
 * Counting without reading entries: the projection `hours` of the table `logs` (pipeline/store/schema/014_short_promoted.sql) holds
 * how many entries there are for each hour, stream, level and label. ClickHouse uses it for a query that groups and filters by its
 * expressions alone. So they count the whole hours of a window, and the entries count the rest of it.
 */
import { conjunction, join, ofTenant, sql, type Sql } from '../../pipeline/core/sql.ts';
import { AndFilter, AnyFilter } from '../filters/logic.ts';
import { TimeFilter } from '../filters/time.ts';
import { momentSql } from '../sql/time.ts';
import { ENTRIES } from '../sql/counts.ts';
import type { Counts, Filter, SqlContext } from '../base/types.ts';
import type { Table } from '../base/table.ts';
import type { TimeWindow } from '../base/time-window.ts';
import { and, or } from '../sql/text.ts';

/** An hour in nanoseconds. */
const HOUR = 3_600_000_000_000n;
export const HOUR_SECONDS = 3600;
/** With fewer whole hours than this, two statements cost more than they save. */
const MIN_HOURS = 2n;
/** The projection's expression, character for character. */
const HOUR_OF = sql`toStartOfInterval(_time, toIntervalNanosecond(3600000000000))`;

const COMMA = sql`, `;
const IN_DOUBT = sql`in_doubt`;

/** By which fields entries are to be counted, and by spans of at most `span` seconds. */
export type Counted = { readonly fields: readonly string[]; readonly span: number };

const floorHour = (ns: bigint): bigint => ns - (((ns % HOUR) + HOUR) % HOUR);

const columnOf = (field: string, table: Table): Sql | undefined => {
  if (field === '_stream') return sql`stream_id`;
  if (field === 'level') return sql`level`;
  return field === 'service' ? sql`service` : table.promotedLabel(field)?.short;
};

/**
 * What stands after FROM: rows with `_time` (the beginning of the hour), the columns of these fields, and `entries`. Null when the
 * counts do not have it, or would take longer than the entries do. In doubt are rows of promoted fields that are looked at and have long values.
 */
export function hourlyCounts(filter: Filter, { fields, span }: Counted, window: TimeWindow, context: SqlContext): Counts | null {
  const { table } = context;
  if (span < HOUR_SECONDS) return null;
  const end = window.end + 1n;
  const [from, to] = [floorHour(window.start + HOUR - 1n), floorHour(end)];
  if (to - from < MIN_HOURS * HOUR) return null;
  const columns = fields.filter((field) => field !== '_time').map((field) => columnOf(field, table));
  const longer = new Map<string, Sql>();
  const isKnown = (field: string): boolean => field === '_stream_id' || columnOf(field, table) !== undefined;
  const conditions = countedConditions(filter, isKnown, { ...context, longer: (rows) => longer.set(rows.strings.join(), rows) });
  // All entries of a window are counted without reading any.
  if (conditions === null || !columns.every((column) => column !== undefined) || fields.length + conditions.length === 0) return null;
  // a row in doubt is not left out: it must be seen
  const kept = longer.size === 0 ? conditions : [or([...longer.values(), and(conditions)])];
  for (const { isLong } of fields.flatMap((field) => table.promotedLabel(field) ?? [])) longer.set(isLong.strings.join(), isLong);
  const inDoubt = longer.size === 0 ? null : or([...longer.values()]);
  const keys = [...(fields.includes('_time') ? [HOUR_OF] : []), ...columns, ...(inDoubt === null ? [] : [IN_DOUBT])];
  const count = (time: Sql): Sql => {
    const where = conjunction([ofTenant(context.tenantId), time, ...kept]);
    const doubt = inDoubt === null ? [] : [sql`${inDoubt} AS ${IN_DOUBT}`];
    const hour = fields.includes('_time') ? [sql`${HOUR_OF} AS hour`] : [];
    const list = join([...hour, ...columns, ...doubt, sql`count() AS entries`], COMMA);
    return sql`SELECT ${list} FROM ${context.table.from} WHERE ${where}${keys.length === 0 ? sql`` : sql` GROUP BY ${join(keys, COMMA)}`}`;
  };
  const parts = [count(sql`${HOUR_OF} >= ${momentSql(from)} AND ${HOUR_OF} < ${momentSql(to)}`)];
  if (window.start < from || to < end) {
    const before = sql`_time >= ${momentSql(window.start)} AND _time < ${momentSql(from)}`;
    parts.push(count(sql`(${before} OR _time >= ${momentSql(to)} AND _time <= ${momentSql(window.end)})`));
  }
  const hour = fields.includes('_time') ? [sql`hour AS _time`] : [];
  const list = join([...hour, ...columns, ...(inDoubt === null ? [] : [IN_DOUBT]), ENTRIES], COMMA);
  const source = sql`(SELECT ${list} FROM (${join(parts, sql` UNION ALL `)}))`;
  return inDoubt === null ? { source } : { source, doubt: IN_DOUBT, inDoubt };
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

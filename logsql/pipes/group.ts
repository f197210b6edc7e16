/** Grouping in SQL, shared by `stats`, `uniq` and `top`: group keys as SQL, and how their values become texts. */
import { sql, type Sql } from '../../pipeline/core/sql.ts';
import { fieldText } from '../sql/text.ts';
import type { SqlContext, SqlInput, StreamNames } from '../types.ts';

export type GroupKey = {
  readonly expression: Sql;
  /** True when the value is a stream's id, whose text must be looked up. */
  readonly isStream: boolean;
  decode(value: unknown, streams: StreamNames): string;
};

/** `2026-11-18 10:00:00.123000000`, ClickHouse's text of a DateTime64(9) in UTC, as RFC 3339 with 0, 3, 6 or 9 digits. */
export function timeText(text: string): string {
  const seconds = `${text.slice(0, 10)}T${text.slice(11, 19)}`;
  if (text.endsWith('000000000')) return `${seconds}Z`;
  const digits = text.endsWith('000000') ? 3 : text.endsWith('000') ? 6 : 9;
  return `${seconds}.${text.slice(20, 20 + digits)}Z`;
}

/** The same with as many digits as it takes: the text of a time in LogsQL. */
export function columnTime(text: string): string {
  const seconds = `${text.slice(0, 10)}T${text.slice(11, 19)}`;
  return text.endsWith('000000000') ? `${seconds}Z` : `${seconds}${text.slice(19).replace(/0+$/, '')}Z`;
}

/** The key for a field without buckets; null when SQL has none. */
export function groupKey(field: string, context: SqlContext): GroupKey | null {
  if (field === '_stream') return { expression: sql`stream_id`, isStream: true, decode: (id, streams) => streams.get(String(id)) ?? '' };
  if (field === '_time') return { expression: sql`_time`, isStream: false, decode: (value) => columnTime(String(value)) };
  const expression = fieldText(field, context);
  return expression === null ? null : { expression, isStream: false, decode: (value) => String(value) };
}

type Doubt = SqlInput['doubt'];
/** The last column where rows may be doubtful (see `SqlInput`): how many there are in all groups, also in those that a limit leaves out. */
export const doubtColumn = (doubt: Doubt): readonly Sql[] => (doubt == null ? [] : [sql`sum(countIf(${doubt})) OVER ()`]);
/** True where that column says so. */
export const isDoubtful = (doubt: Doubt, row: readonly unknown[]): boolean => doubt != null && Number(row.at(-1)) > 0;

/** The keys for all fields, or null when one has none. */
export function groupKeys(fields: readonly string[], context: SqlContext): readonly GroupKey[] | null {
  const keys = fields.map((field) => groupKey(field, context));
  return keys.every((key) => key !== null) ? keys : null;
}

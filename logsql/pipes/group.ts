/** Grouping in SQL, shared by `stats`, `uniq` and `top`: group keys as SQL, and how their values become strings. */
import { sql, type Sql } from '../../pipeline/core/sql.ts';
import { fieldText } from '../sql/text.ts';
import { columnTime } from '../sql/time.ts';
import type { StreamNames } from '../base/table.ts';
import type { SqlContext, SqlInput } from '../base/types.ts';

export type GroupKey = {
  readonly expression: Sql;
  /** True when the value stands for a stream, whose labels have another order. */
  readonly isStream: boolean;
  /** True when it is a stream's id, whose labels must be looked up. */
  readonly isId?: boolean;
  decode(value: unknown, streams: StreamNames): string;
};

/** The key for a field without buckets; null when SQL has none. */
export function groupKey(field: string, context: SqlContext): GroupKey | null {
  if (field === '_stream') {
    const { key, isId, text } = context.table.stream;
    return { expression: key, isStream: true, isId, decode: (value, streams) => text(String(value), streams) };
  }
  if (field === '_time') return { expression: sql`_time`, isStream: false, decode: (value) => columnTime(String(value)) };
  const expression = fieldText(field, context);
  return expression === null ? null : { expression, isStream: false, decode: (value) => String(value) };
}

type Doubt = SqlInput['doubt'];
/** The last column where rows may be in doubt (see `SqlInput`): how many there are in all groups, also in those that a limit leaves out. */
export const doubtColumn = (doubt: Doubt): readonly Sql[] => (doubt == null ? [] : [sql`sum(countIf(${doubt})) OVER ()`]);
/** True where that column counts any. */
export const isInDoubt = (doubt: Doubt, row: readonly unknown[]): boolean => doubt != null && Number(row.at(-1)) > 0;

/** The keys for all fields, or null when one has none. */
export function groupKeys(fields: readonly string[], context: SqlContext): readonly GroupKey[] | null {
  const keys = fields.map((field) => groupKey(field, context));
  return keys.every((key) => key !== null) ? keys : null;
}

/**
 * The first entries of a sort by one field, without reading all entries. ClickHouse cannot express the whole order of values, which is one
 * order for numbers, another for strings; but the first N of all are among the first N of each kind. So it finds those, and memory
 * sorts them as it would sort all entries.
 */
import type { LogEntry } from '../../pipeline/core/entry.ts';
import { join, ofTenant, sql, uint32, type Sql } from '../../pipeline/core/sql.ts';
import type { FieldSet } from '../base/fields.ts';
import type { Table } from '../base/table.ts';
import type { StatementRunner, SqlInput } from '../base/types.ts';
import { Layers } from './layers.ts';
import { AMONG, PLACE } from './places.ts';
import { WRITTEN_OUT, numberKey } from './ranked.ts';
import { fieldText } from './text.ts';

export type FirstSorted = {
  readonly field: string;
  readonly isDescending: boolean;
  /** How many are wanted. */
  readonly most: number;
  /** The fields that the entries have. */
  readonly fields: FieldSet;
};

/** More are sorted in memory. */
export const MOST_SORTED = 10_000;
/** Entries whose values are of no kind that ClickHouse can sort: times, very long numbers. All of them are sorted in memory. */
const MOST_OTHERS = 20_000;

/** Entries, and what is known of the value of each. */
type Values = {
  readonly source: Sql;
  /** 0: empty, 1: a number, 2: a string in natural order, 3: of no kind. */
  readonly kind: Sql;
  /** By which those of a kind are sorted, in addition to `kind`. */
  readonly keys: readonly (Sql | null)[];
};

/**
 * A number has units or none. The key of a string has each run of digits behind a byte that comes before all others: its length, the
 * digits without leading zeros, and the number of these.
 */
function valuesOf(source: Sql, text: Sql, table: Table): Values {
  const layers = new Layers('v');
  const { isKey, key } = numberKey(text, layers);
  const isOther = sql`(match(${text}, ${WRITTEN_OUT}) OR match(${text}, '^[-+]?0[xXbBoO]|^[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{250}|[\\x00\\x01]'))`;
  const digits = sql`replaceRegexpOne(r, '^0+', '')`;
  const run = sql`concat('\\x01', char(length(${digits})), ${digits}, char(length(r) - length(${digits})))`;
  const natural = sql`arrayStringConcat(arrayMap(r -> if(match(r, '^[0-9]'), ${run}, r), extractAll(${text}, '[0-9]+|[^0-9]+')))`;
  const kind = layers.name(sql`multiIf(${text} = '', 0, ${isKey}, 1, ${isOther}, 3, 2)`);
  return { source: layers.over(source, table), kind, keys: [null, sql`${key}.1`, natural, null] };
}

/** Entries with the first ones of the sort, oldest first; null where there are too many of no kind, or SQL cannot express the field. */
export async function firstSorted({ source, context }: SqlInput, wanted: FirstSorted, runner: StatementRunner): Promise<LogEntry[] | null> {
  const { field, isDescending, most, fields } = wanted;
  const text = fieldText(field, context);
  // fields that are worked out are in no entry
  if (text === null || context.computed !== undefined) return null;
  const values = valuesOf(source, text, context.table);
  const rows = await runner.rows(
    sql`SELECT countIf(k = 0), countIf(k = 1), countIf(k = 2), countIf(k = 3) FROM (SELECT ${values.kind} AS k FROM ${values.source})`,
  );
  const counts = (rows[0] ?? []).map(Number);
  const [empty = 0, , , others = 0] = counts;
  const full = counts.reduce((sum, count) => sum + count, 0) - empty;
  if (others > MOST_OTHERS) return null;
  // the empty value comes before all others
  const isWanted = (kind: number): boolean => (isDescending ? kind > 0 || full < most : kind === 0 || empty < most);
  const parts = [0, 1, 2, 3]
    .filter((kind) => (counts[kind] ?? 0) > 0 && isWanted(kind))
    .map((kind) => placesOf(values, kind, { ...wanted, most: kind === 3 ? MOST_OTHERS : most }));
  if (parts.length === 0) return [];
  const columns = context.table.entryColumns(fields, context.tenantId);
  const read = await runner.rows(
    sql`SELECT ${columns.list} FROM ${context.table.where([ofTenant(context.tenantId), sql`${PLACE} ${AMONG} (${join(parts, sql` UNION ALL `)})`])} ORDER BY ${PLACE}`,
  );
  const streams = await runner.streams(columns.streamColumns.flatMap((column) => read.map((row) => String(row[column]))));
  return read.map((row) => columns.decode(row, streams));
}

/** The places of the first entries of a kind, of equal ones the oldest. */
function placesOf({ source, kind, keys }: Values, which: number, { isDescending, most }: FirstSorted): Sql {
  const key = keys[which] ?? null;
  const order = key === null ? sql`` : sql`${key}${isDescending ? sql` DESC` : sql``}, `;
  return sql`SELECT ${PLACE} FROM ${source} WHERE ${kind} = ${uint32(which)} ORDER BY ${order}${PLACE} LIMIT ${uint32(most)}`;
}

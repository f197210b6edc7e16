/** Keys of numbers in SQL that come in the order of stats/ranking.ts: where all values are such numbers, ClickHouse can choose. */
import { sql, uint32, type Sql } from '../../pipeline/core/sql.ts';
import { numberSql } from './number.ts';
import type { RowInput } from '../base/types.ts';

/** Different values of a group that ClickHouse gives back, for the choice to be made here; none of them longer, in bytes. */
const MOST_VALUES = 1000;
const MOST_BYTES = 64;

const shortened = (value: Sql): Sql => sql`substring(${value}, 1, ${uint32(MOST_BYTES + 1)})`;
const areShort = (list: readonly string[]): boolean =>
  list.length <= MOST_VALUES && list.every((value) => Buffer.byteLength(value) <= MOST_BYTES);

/** The different values under a condition, if they are few and short; see `readValues`. */
export const someValues = (value: Sql, condition: Sql): Sql =>
  sql`groupUniqArrayIf(${uint32(MOST_VALUES + 1)})(${shortened(value)}, ${condition})`;

/** What `someValues` gave, or none for a count of 0; null where there are more or longer values than it returns. */
export function readValues(found: unknown): readonly string[] | null {
  if (!Array.isArray(found)) return Number(found) === 0 ? [] : null;
  const list = (found as readonly unknown[]).map(String);
  return areShort(list) ? list : null;
}

/** Value and count of what `approx_top_k` gives: its tuples have names, and would come as objects. */
export const pairsOf = (counts: Sql): Sql => sql`arrayMap(t -> (t.1, t.2), ${counts})`;

/** How many there are of each of the values (an array for each row), if they are few and short; see `readCounts`. */
export function countsOfSome(values: Sql, condition: Sql | null): Sql {
  const most = uint32(MOST_VALUES + 1);
  const list = sql`arrayMap(v -> ${shortened(sql`v`)}, ${values})`;
  // its counts are exact as long as it has space for one more
  const counts =
    condition === null
      ? sql`approx_top_kArray(${most}, ${most})(${list})`
      : sql`approx_top_kArrayIf(${most}, ${most})(${list}, ${condition})`;
  return pairsOf(counts);
}

/** What `countsOfSome` gave; null where there are more or longer values than it returns. */
export function readCounts(found: unknown): ReadonlyMap<string, number> | null {
  const counts = new Map((found as readonly (readonly unknown[])[]).map(([value, size]) => [String(value), Number(size)]));
  return areShort([...counts.keys()]) ? counts : null;
}

/** True for a string that is a number just as ClickHouse prints it, so that number and string stand for each other. */
export const isCanonicalNumber = (value: Sql): Sql =>
  sql`(isFinite(ifNull(toFloat64OrNull(${value}), nan)) AND toString(toFloat64OrNull(${value})) = ${value})`;

/** Plain decimals, also with an exponent: what `exactValue` (logsql/values/exact.ts) reads digit by digit. */
export const WRITTEN_OUT = sql`'^[-+]?[.]?[0-9_]+(?:[.][0-9_]*)?(?:[eE][-+]?[0-9]+)?$'`;

/**
 * A tuple of number and string that orders values as memory does; right where `isKey` holds: not for plain numbers of which several are
 * one float.
 */
export function numberKey(value: Sql, layers: Pick<RowInput, 'name'>): { readonly isKey: Sql; readonly key: Sql } {
  const name = layers.name(numberSql(value));
  const size = sql`abs(assumeNotNull(${name}))`;
  const isOneFloat = sql`(${size} < exp2(46) OR (${size} < exp2(53) AND match(${value}, '^-?[0-9_]+$')) OR NOT match(${value}, ${WRITTEN_OUT}))`;
  return {
    isKey: layers.name(sql`(isNotNull(${name}) AND ${isOneFloat})`),
    // -0 is 0
    key: sql`(ifNull(${name}, 0) + 0, toString(${value}))`,
  };
}

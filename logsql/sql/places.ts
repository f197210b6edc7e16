/** The order of entries among aggregates: what tells two entries of one time apart comes after it. */
import { sql, uint32, type Sql } from '../../pipeline/core/sql.ts';

/** A tuple that is smaller for older entries, and of equal times for those that arrived before. */
export const PLACE = sql`(_time, arrived, kafka_part, kafka_off, kafka_idx)`;

/** The same the other way around. */
export const PLACE_BACKWARDS = sql`(-toUnixTimestamp64Nano(_time), -toUnixTimestamp64Milli(arrived), -toInt32(kafka_part), -toInt128(kafka_off), -toInt64(kafka_idx))`;

/** Rows of a group that ClickHouse gives back in their order. */
export const MOST_FIRST = 1000;

/** An expression of the first rows of a group, oldest first; see `readFirst`. */
export function firstRows(value: Sql, limit: number, condition: Sql | null): Sql {
  const placed = sql`(${PLACE}, ${value})`;
  const rows =
    condition === null
      ? sql`groupArraySorted(${uint32(limit)})(${placed})`
      : sql`groupArraySortedIf(${uint32(limit)})(${placed}, ${condition})`;
  return sql`arrayMap(t -> t.2, ${rows})`;
}

/** What `firstRows` gave, where the expression is an array of texts. */
export const readFirst = (found: unknown): readonly (readonly string[])[] => found as readonly (readonly string[])[];

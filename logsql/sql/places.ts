/** The order of entries among aggregates: what distinguishes two entries of one time comes after it. */
import { Param, sql, uint32, type Sql } from '../../pipeline/core/sql.ts';
import { momentSql } from './time.ts';
import type { Position } from '../base/position.ts';

/** A tuple that is smaller for older entries, and of equal times for those that arrived before. */
export const PLACE = sql`(_time, arrived, kafka_part, kafka_off, kafka_idx)`;

/** A place that is known, as such a tuple. */
export function placeSql({ time, arrived, part, offset, index }: Position): Sql {
  const moment = sql`fromUnixTimestamp64Milli(${new Param('Int64', arrived)}, 'UTC')`;
  return sql`(${momentSql(BigInt(time))}, ${moment}, ${uint(part)}, ${uint(offset)}, ${uint(index)})`;
}

const uint = (text: string): Param => new Param('UInt64', text);

/** The columns of an entry's place; see `positionAt`. */
export const POSITION = sql`toUnixTimestamp64Nano(_time), toUnixTimestamp64Milli(arrived), kafka_part, kafka_off, kafka_idx`;
export const POSITION_COLUMNS = 5;

/** The place out of these columns of a row, of which the first is the one at `at`. */
export function positionAt(row: readonly unknown[], at: number): Position {
  const [time = '', arrived = '', part = '', offset = '', index = ''] = row.slice(at).map(String);
  return { time, arrived, part, offset, index };
}

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

/** What `firstRows` gave, where the expression is an array of strings. */
export const readFirst = (found: unknown): readonly (readonly string[])[] => found as readonly (readonly string[])[];

/** The order of entries among aggregates: what distinguishes two entries of one time comes after it. */
import { Param, sql, texts, uint32, type Sql } from '../../pipeline/core/sql.ts';
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

/** Places that are known, as such tuples: what stands behind IN. */
export function placeSet(places: readonly Position[]): Sql {
  const column = (part: keyof Position): Param => texts(places.map((place) => place[part]));
  const tuple = sql`(fromUnixTimestamp64Nano(toInt64(t), 'UTC'), fromUnixTimestamp64Milli(toInt64(a), 'UTC'), toUInt64(p), toUInt64(o), toUInt64(i))`;
  return sql`(SELECT arrayJoin(arrayMap((t, a, p, o, i) -> ${tuple}, ${column('time')}, ${column('arrived')}, ${column('part')}, ${column('offset')}, ${column('index')})))`;
}

/** The columns of an entry's place; see `positionAt`. */
export const POSITION = sql`toUnixTimestamp64Nano(_time), toUnixTimestamp64Milli(arrived), kafka_part, kafka_off, kafka_idx`;
export const POSITION_COLUMNS = 5;

/** The place out of these columns of a row, of which the first is the one at `at`. */
export function positionAt(row: readonly unknown[], at: number): Position {
  const [time = '', arrived = '', part = '', offset = '', index = ''] = row.slice(at).map(String);
  return { time, arrived, part, offset, index };
}

/** Below 0 where the first place is the older one. */
export function comparePlaces(a: Position, b: Position): number {
  for (const part of ['time', 'arrived', 'part', 'offset', 'index'] as const) {
    const [x, y] = [BigInt(a[part]), BigInt(b[part])];
    if (x !== y) return x < y ? -1 : 1;
  }
  return 0;
}

/** PLACE the other way around. */
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

/**
 * `IN`, where several tables stand behind it, which ClickHouse 26.7 does not make `GLOBAL` by itself (docs/adr/0062-shards.md): what is found there is worked
 * out once, over all shards. Where there is one, it is the same as `IN`.
 */
export const AMONG = sql`GLOBAL IN`;

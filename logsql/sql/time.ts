/** Moments as ClickHouse takes and prints them. */
import { int64, sql, type Sql } from '../../pipeline/core/sql.ts';
import { MAX_TIME, MIN_TIME } from '../../pipeline/core/time.ts';

const clamp = (ns: bigint): bigint => (ns < MIN_TIME ? MIN_TIME : ns > MAX_TIME ? MAX_TIME : ns);
/** A moment as ClickHouse compares it with `_time`. */
export const momentSql = (ns: bigint): Sql => sql`fromUnixTimestamp64Nano(${int64(clamp(ns))}, 'UTC')`;

/** `2026-11-18 10:00:00.123000000`, ClickHouse's string of a DateTime64(9) in UTC, as RFC 3339 with 0, 3, 6 or 9 digits. */
export function timeText(text: string): string {
  const seconds = `${text.slice(0, 10)}T${text.slice(11, 19)}`;
  if (text.endsWith('000000000')) return `${seconds}Z`;
  const digits = text.endsWith('000000') ? 3 : text.endsWith('000') ? 6 : 9;
  return `${seconds}.${text.slice(20, 20 + digits)}Z`;
}

/** The same with as many digits as it takes: the string of a time in LogsQL. */
export function columnTime(text: string): string {
  const seconds = `${text.slice(0, 10)}T${text.slice(11, 19)}`;
  return text.endsWith('000000000') ? `${seconds}Z` : `${seconds}${text.slice(19).replace(/0+$/, '')}Z`;
}

/** The string of `_time` in SQL, as momentText writes it. */
export const TIME_TEXT = sql`concat(replaceOne(replaceRegexpOne(toString(_time), '\\\\.?0+$', ''), ' ', 'T'), 'Z')`;

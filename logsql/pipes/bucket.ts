/** Buckets of `stats by (field:bucket offset o)`. */
import { int64, sql, type Sql } from '../../pipeline/core/sql.ts';
import { SPANS } from '../sql/counts.ts';
import { MAX_LENGTH, momentText } from '../values/times.ts';
import type { Lexer } from '../base/lexer.ts';
import {
  formatDuration,
  formatFloat,
  formatIpv4,
  parseBytes,
  parseDecimal,
  parseDuration,
  parseInteger,
  parseIpv4,
  parseTimestamp,
} from '../values/numbers.ts';

/** A bucket's size and offset as numbers (nanoseconds for durations) and how they were written. Calendar units have a name. */
export type Bucket = {
  readonly size: number;
  readonly offset: number;
  readonly calendar: 'week' | 'month' | 'year' | null;
  readonly written: string;
};

const NAMED: ReadonlyMap<string, number> = new Map(
  Object.entries({
    nanosecond: 1,
    microsecond: 1e3,
    millisecond: 1e6,
    second: 1e9,
    minute: 6e10,
    hour: 3.6e12,
    day: 8.64e13,
    week: 6.048e14,
  }),
);
const MASK = /^\/([0-9]{1,2})$/;
const DAY = 86_400_000_000_000n;
/** The first Monday of Unix time. */
const MONDAY = 4n * DAY;

/** Reads what follows `field:`. */
export function parseBucket(lexer: Lexer): Bucket {
  const text = bucketText(lexer);
  const calendar = text === 'week' || text === 'month' || text === 'year' ? text : null;
  const mask = MASK.exec(text);
  const size =
    calendar === 'month' || calendar === 'year'
      ? 0
      : (NAMED.get(text) ??
        parseDecimal(text) ??
        parseDuration(text) ??
        parseBytes(text) ??
        (mask !== null && Number(mask[1]) <= 32 ? 2 ** (32 - Number(mask[1])) : null));
  if (size === null || Math.abs(size) > MAX_LENGTH)
    return lexer.fail('expected the size of a bucket such as 5m, 100 or /24, of at most 200y');
  if (!lexer.accept('offset')) return { size, offset: 0, calendar, written: text };
  const shift = offsetText(lexer);
  const offset = parseDecimal(shift) ?? parseDuration(shift) ?? parseBytes(shift);
  if (offset === null || Math.abs(offset) > MAX_LENGTH)
    return lexer.fail('expected the offset of a bucket such as 2h or -50, of at most 200y');
  return { size, offset, calendar, written: `${text} offset ${shift}` };
}

function bucketText(lexer: Lexer): string {
  if (lexer.is('|', ')', '(', ',', '')) lexer.fail('expected the size of a bucket');
  const first = lexer.next();
  return first === '/' ? first + lexer.next() : first;
}

function offsetText(lexer: Lexer): string {
  if (lexer.is('|', ')', '(', ',', '')) lexer.fail('expected the offset of a bucket');
  const first = lexer.next();
  return first === '-' ? first + lexer.next() : first;
}

const floorTo = (value: bigint, size: bigint, offset: bigint): bigint => value - ((((value - offset) % size) + size) % size);

/** The longest of these spans, in seconds, that lies in one bucket with all of its time (in UTC), wherever it begins; 0 where none does. */
export const spanInside = ({ size, offset, calendar }: Bucket): number =>
  SPANS.find((span) => {
    const inside = (length: number): boolean => Math.trunc(length) % (span * 1e9) === 0;
    return inside(offset) && (calendar !== null || (size > 0 && inside(size)));
  }) ?? 0;

/** The beginning of the bucket that a time lies in, in nanoseconds. */
function bucketTime(ns: bigint, { size, offset, calendar }: Bucket): bigint {
  const shift = BigInt(Math.trunc(offset));
  if (calendar === 'week') return floorTo(ns, 7n * DAY, shift + MONDAY);
  if (calendar === null) return floorTo(ns, BigInt(Math.max(1, Math.trunc(size))), shift);
  const date = new Date(Number(floorTo(ns - shift, DAY, 0n) / 1_000_000n));
  return BigInt(Date.UTC(date.getUTCFullYear(), calendar === 'year' ? 0 : date.getUTCMonth(), 1)) * 1_000_000n + shift;
}

/** The beginning of the bucket after the one that begins here. */
export function nextBucketTime(first: bigint, { size, offset, calendar }: Bucket): bigint {
  if (calendar === 'week') return first + 7n * DAY;
  if (calendar === null) return first + BigInt(Math.max(1, Math.trunc(size)));
  const shift = BigInt(Math.trunc(offset));
  const date = new Date(Number((first - shift) / 1_000_000n));
  const [year, month] = calendar === 'year' ? [date.getUTCFullYear() + 1, 0] : [date.getUTCFullYear(), date.getUTCMonth() + 1];
  return BigInt(Date.UTC(year, month, 1)) * 1_000_000n + shift;
}

/** The string of the bucket that a value lies in; a string that is not a plain number, time, address or duration stays unchanged. */
export function bucketValue(text: string, bucket: Bucket): string {
  if (!/^[-0-9]/.test(text)) return text;
  const size = Math.max(1, Math.trunc(bucket.size));
  const integer = parseInteger(text);
  if (integer !== null) return floorTo(integer, BigInt(size), BigInt(Math.trunc(bucket.offset))).toString();
  const decimal = parseDecimal(text);
  if (decimal !== null) return formatFloat(floorDecimal(decimal, bucket));
  const time = parseTimestamp(text);
  if (time !== null) return momentText(bucketTime(time, bucket));
  const address = parseIpv4(text);
  if (address !== null) return formatIpv4(Number(floorTo(BigInt(address), BigInt(size), BigInt(Math.trunc(bucket.offset)))));
  const duration = parseDuration(text);
  return duration === null ? text : formatDuration(Number(floorTo(BigInt(duration), BigInt(size), BigInt(Math.trunc(bucket.offset)))));
}

/** Cuts to a multiple as VictoriaLogs does with decimals: down to the last decimal of the size, then towards zero. */
function floorDecimal(value: number, { size, offset }: Bucket): number {
  const step = size > 0 ? size : 1;
  const decimals = (/\.(\d+)/.exec(formatFloat(step))?.[1] ?? '').length;
  const scale = 10 ** decimals;
  const units = Math.floor((value - offset) * scale);
  const stepUnits = Math.round(step * scale);
  return (units - (units % stepUnits)) / scale + offset;
}

/** The beginning of `_time`'s bucket in nanoseconds (Int64), in SQL. */
export function bucketTimeSql({ size, offset, calendar }: Bucket): Sql {
  const shift = BigInt(Math.trunc(offset));
  const ns = sql`toUnixTimestamp64Nano(_time)`;
  // within a step of 0, so that nothing leaves 64 bits
  const floor = (step: bigint, from: bigint): Sql => sql`${ns} - positiveModulo(${ns} - ${int64(from % step)}, ${int64(step)})`;
  if (calendar === null) return floor(BigInt(Math.max(1, Math.trunc(size))), shift);
  if (calendar === 'week') return floor(7n * DAY, shift + MONDAY);
  const day = sql`fromUnixTimestamp64Nano(${ns} - ${int64(shift)}, 'UTC')`;
  // Dates of 16 bits end in 2149, and seconds of 32 bits in 2106.
  const start = calendar === 'month' ? sql`makeDate32(toYear(${day}), toMonth(${day}), 1)` : sql`makeDate32(toYear(${day}), 1, 1)`;
  return sql`toInt64(${start}) * ${int64(DAY)} + ${int64(shift)}`;
}

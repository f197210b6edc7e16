import { parseTime } from '../core/time.ts';
import type { SplitTime } from '../rows/halves.ts';

const DAYS_BEFORE = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
const MONTH_DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Reads `"2026-11-20T10:00:00.123456789Z"` in place, the form nearly all producers send. False: it is in another form, or wrong. */
export function readIsoToken(bytes: Uint8Array, start: number, end: number, time: SplitTime): boolean {
  // "YYYY-MM-DDThh:mm:ssZ" with its quotes has 22 bytes
  return end - start >= 22 && bytes[end - 2] === 0x5a && readLocalIso(bytes, start + 1, end - 2, time);
}

/** Reads `2026-11-20T10:00:00.123456789`, which fills `bytes[at..end)`, as a time in UTC. False: it is in another form, or wrong. */
export function readLocalIso(bytes: Uint8Array, at: number, end: number, time: SplitTime): boolean {
  if (bytes[at + 4] !== 0x2d || bytes[at + 7] !== 0x2d || bytes[at + 10] !== 0x54 || bytes[at + 13] !== 0x3a || bytes[at + 16] !== 0x3a)
    return false;
  const day = dayOf(two(bytes, at) * 100 + two(bytes, at + 2), two(bytes, at + 5), two(bytes, at + 8));
  const hour = two(bytes, at + 11);
  const minute = two(bytes, at + 14);
  const second = two(bytes, at + 17);
  if (!(day === day && hour < 24 && minute < 60 && second < 60)) return false;
  const nanos = readFraction(bytes, at + 19, end);
  if (nanos < 0) return false;
  time.seconds = day * 86_400 + hour * 3600 + minute * 60 + second;
  time.nanos = nanos;
  return true;
}

/** Days from 1970-01-01 to a date of the Gregorian calendar (months from 1) in 1900 or later; NaN where there is no such date. */
export function dayOf(year: number, month: number, day: number): number {
  if (!(year >= 1900 && month >= 1 && month <= 12 && day >= 1 && day <= (MONTH_DAYS[month - 1] as number))) return NaN;
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  if (month === 2 && day === 29 && !leap) return NaN;
  const before = year - 1;
  const leapDays = Math.floor(before / 4) - Math.floor(before / 100) + Math.floor(before / 400);
  return before * 365 + leapDays + (DAYS_BEFORE[month - 1] as number) + (leap && month > 2 ? 1 : 0) + day - 719_163;
}

/** `.` and 1 to 9 digits up to `end` as nanoseconds, 0 where there is nothing, -1 where it is something else. */
function readFraction(bytes: Uint8Array, at: number, end: number): number {
  if (at === end) return 0;
  if (bytes[at] !== 0x2e || end - at < 2 || end - at > 10) return -1;
  let nanos = 0;
  for (let i = at + 1; i < end; i++) {
    const digit = (bytes[i] as number) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    nanos = nanos * 10 + digit;
  }
  for (let places = end - at - 1; places < 9; places++) nanos *= 10;
  return nanos;
}

/** Digits of the whole part that a number of seconds, milliseconds, microseconds has at most; one with more is nanoseconds. */
const MOST_DIGITS = [11, 14, 17, 19];

/**
 * Reads a Unix number in plain decimal digits, which fills `bytes[at..end)`, as `parseTime` does (s, ms, µs, ns distinguished by size).
 * False: it is in another form (a sign, an exponent, zeros before it), or not a number.
 */
export function readUnixDigits(bytes: Uint8Array, at: number, end: number, time: SplitTime): boolean {
  let point = at;
  while (point < end && isDigit(bytes[point] as number)) point += 1;
  const unit = MOST_DIGITS.findIndex((most) => point - at <= most);
  if (point === at || bytes[at] === 0x30 || unit < 0) return false;
  const second = point - unit * 3;
  let seconds = 0;
  for (let i = at; i < second; i++) seconds = seconds * 10 + (bytes[i] as number) - 0x30;
  let nanos = 0;
  let places = 9;
  for (let i = Math.max(at, second); i < point; i++, places--) nanos = nanos * 10 + (bytes[i] as number) - 0x30;
  if (point < end) {
    if (bytes[point] !== 0x2e || point + 1 === end) return false;
    for (let i = point + 1; i < end; i++) {
      if (!isDigit(bytes[i] as number)) return false;
      if (places > 0) {
        nanos = nanos * 10 + (bytes[i] as number) - 0x30;
        places -= 1;
      }
    }
  }
  for (; places > 0; places--) nanos *= 10;
  time.seconds = seconds;
  time.nanos = nanos;
  return true;
}

const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39;

/** Two digits, or NaN, which fails every comparison of the caller. */
export function two(bytes: Uint8Array, at: number): number {
  const tens = (bytes[at] as number) - 0x30;
  const ones = (bytes[at + 1] as number) - 0x30;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : NaN;
}

/** What a time's value is: a time, nothing (empty, 0, Go's zero time), or something unreadable. */
export function readTimeText(text: string, time: SplitTime): 'time' | 'none' | 'unreadable' {
  if (text === '' || /^0+(\.0*)?$/.test(text) || text.startsWith('0001-01-01')) return 'none';
  const ns = text.length > 64 ? null : parseTime(text.trim());
  if (ns === null) return 'unreadable';
  splitTime(ns, time);
  return 'time';
}

/** Splits nanoseconds since the epoch. */
export function splitTime(ns: bigint, time: SplitTime): void {
  const nanos = Number(((ns % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n);
  time.seconds = Number((ns - BigInt(nanos)) / 1_000_000_000n);
  time.nanos = nanos;
}

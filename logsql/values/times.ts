/** Times as queries and windows write them: partial ISO, Unix numbers, `now`, and durations before now. */
import { formatTime, parseTime as parseIso } from '../../pipeline/core/time.ts';
import { parseDuration } from './numbers.ts';

/** A time and the last nanosecond of its last written unit (`10:05Z` ends at 10:05:59.999999999). */
export type WrittenTime = { readonly start: bigint; readonly end: bigint };

const PARTIAL = /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[Tt ](\d\d)(?::(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?)?)?)?([Zz]|[+-]\d\d(?::?\d\d)?)?$/;
const SECOND = 1_000_000_000n;
/** What stands behind the `e` of a number: nothing, or few enough to mean a time. */
const EXPONENT = /[eE]([+-]?\d+)$/;
const MAX_EXPONENT = 30;
/** The years 0 to 9999, which have a string. */
const FIRST = parseIso('0000-01-01T00:00:00Z') ?? 0n;
const LAST = parseIso('9999-12-31T23:59:59.999999999Z') ?? 0n;

/** The longest duration that a query or a parameter may name, in nanoseconds: 200 years. What is counted with it stays within 64 bits. */
export const MAX_LENGTH = 200 * 3.1536e16;

/** A duration in whole nanoseconds, negative ones too; null when unreadable or longer than MAX_LENGTH. */
export function readLength(text: string): bigint | null {
  const length = parseDuration(text);
  return length === null || Math.abs(length) > MAX_LENGTH ? null : BigInt(Math.trunc(length));
}

/** True for a time within the years 0 to 9999. */
const isInCalendar = (ns: bigint): boolean => ns >= FIRST && ns <= LAST;

/** Reads a time of the years 0 to 9999; null when unreadable. `now` is what `now` and durations (`-1h`, `now-1h30m`, `1d`) are counted from. */
export function readTime(text: string, now: bigint): WrittenTime | null {
  if (text === 'now') return { start: now, end: now };
  const partial = PARTIAL.exec(text);
  if (partial !== null) return fromPartial(partial);
  const duration = durationOf(text);
  if (duration !== null) return { start: now - duration, end: now - duration };
  const at = readMoment(text);
  return at === null ? null : { start: at, end: at };
}

/** Reads an ISO 8601 time or a Unix number of the years 0 to 9999; null when unreadable. */
export function readMoment(text: string): bigint | null {
  const at = Math.abs(Number(EXPONENT.exec(text)?.[1] ?? 0)) > MAX_EXPONENT ? null : parseIso(text);
  return at === null || !isInCalendar(at) ? null : at;
}

/** RFC 3339 in UTC with as many fraction digits as it takes: the string of a time in LogsQL (`2026-11-18T10:00:00.11Z`). */
export function momentText(ns: bigint): string {
  const text = formatTime(ns);
  return text.includes('.') ? text.replace(/0+Z$/, 'Z') : text;
}

/** The length of `-1h`, `now-1h` or `1h30m`, without its sign. */
function durationOf(text: string): bigint | null {
  const length = readLength(text.startsWith('now-') ? text.slice(4) : text);
  return length === null || length >= 0n ? length : -length;
}

function fromPartial(match: RegExpExecArray): WrittenTime | null {
  const [, year = '', month, day, hour, minute, second, fraction, zone = 'Z'] = match;
  const text = `${year}-${month ?? '01'}-${day ?? '01'}T${hour ?? '00'}:${minute ?? '00'}:${second ?? '00'}.${fraction ?? '0'}${zone}`;
  const start = parseIso(text);
  if (start === null) return null;
  if (fraction !== undefined) return { start, end: fraction.length === 3 ? start + 999_999n : start };
  const unit = second !== undefined ? 1n : minute !== undefined ? 60n : hour !== undefined ? 3600n : day !== undefined ? 86_400n : 0n;
  if (unit > 0n) return { start, end: start + unit * SECOND - 1n };
  const years = Number(year) + (month === undefined || month === '12' ? 1 : 0);
  const months = month === undefined || month === '12' ? 1 : Number(month) + 1;
  const next = parseIso(`${String(years).padStart(4, '0')}-${String(months).padStart(2, '0')}-01T00:00:00${zone}`);
  return next === null ? null : { start, end: next - 1n };
}

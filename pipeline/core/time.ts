/** Times in nanoseconds since the Unix epoch (bigint), their RFC 3339 text, and durations. */

const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9})\d*)?)?\s*([Zz]|UTC|GMT|[+-]\d\d(?::?\d\d)?)?)?$/;
const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const SECOND = 1_000_000_000n;

/** Bounds of every stored time: 1900-01-01 to 2262-01-01, the range of ClickHouse's DateTime64(9). */
export const MIN_TIME = -2_208_988_800n * SECOND;
export const MAX_TIME = 9_214_646_400n * SECOND;

/** Reads ISO 8601 / RFC 3339 (`Z`, `+hh:mm`, `+hhmm`, `+hh`, PostgreSQL's ` UTC`; no zone is UTC) or a Unix number (s, ms, µs, ns distinguished by size); null when unreadable. */
export function parseTime(text: string): bigint | null {
  const iso = ISO.exec(text);
  if (iso !== null) return isoTime(iso);
  return NUMBER.test(text) ? unixTime(text) : null;
}

function isoTime(match: RegExpExecArray): bigint | null {
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] = match;
  const at = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Math.min(Number(second), 59));
  const date = new Date(at);
  if (Number(year) < 100) date.setUTCFullYear(Number(year));
  const valid = date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day) && Number(hour) < 24 && Number(minute) < 60;
  if (!valid || Number(second) > 60) return null;
  const sign = zone.startsWith('-') ? -1 : 1;
  const [hours, minutes] = /^\w/.test(zone) ? [0, 0] : [Number(zone.slice(1, 3)), zone.length > 3 ? Number(zone.slice(-2)) : 0];
  if (hours > 23 || minutes > 59) return null;
  const offset = sign * (hours * 60 + minutes);
  const leap = Number(second) === 60 ? 1000 : 0;
  return BigInt(date.getTime() + leap - offset * 60_000) * 1_000_000n + BigInt(fraction.padEnd(9, '0') || '0');
}

/** A Unix number by its decimal text, without going through floating point: below 1e11 seconds, 1e14 ms, 1e17 µs, else ns. */
function unixTime(text: string): bigint {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const negative = mantissa.startsWith('-');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const shift = Number(exponent);
  if (Math.abs(shift) > 30) return MAX_TIME + 1n;
  const digits = whole + fraction;
  const point = whole.length + shift;
  const padded = point > digits.length ? digits.padEnd(point, '0') : digits;
  const integer = point <= 0 ? '0' : padded.slice(0, point);
  const rest = point <= 0 ? '0'.repeat(-point) + padded : padded.slice(point);
  const size = BigInt(integer);
  const places = size < 100_000_000_000n ? 9 : size < 100_000_000_000_000n ? 6 : size < 100_000_000_000_000_000n ? 3 : 0;
  const ns = size * 10n ** BigInt(places) + BigInt(rest.slice(0, places).padEnd(places, '0') || '0');
  return negative ? -ns : ns;
}

/** RFC 3339 in UTC with `Z` and 0, 3, 6 or 9 fraction digits as needed. */
export function formatTime(ns: bigint): string {
  let seconds = ns / SECOND;
  let fraction = ns % SECOND;
  if (fraction < 0n) {
    fraction += SECOND;
    seconds -= 1n;
  }
  const head = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  if (fraction === 0n) return head + 'Z';
  const digits = fraction
    .toString()
    .padStart(9, '0')
    .replace(/(?:000){1,2}$/, '');
  return `${head}.${digits}Z`;
}

/** Nanoseconds of the units of durations. */
export const TIME_UNITS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 6e10,
  h: 3.6e12,
  d: 8.64e13,
  w: 6.048e14,
  y: 3.1536e16,
};
const DURATION = /(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d|w|y)/gy;

/** Reads a duration such as `1h30m`, `2.5d`, `250ms` as nanoseconds; null when unreadable. */
export function parseDuration(text: string): bigint | null {
  if (text === '') return null;
  let total = 0;
  let at = 0;
  DURATION.lastIndex = 0;
  for (let match = DURATION.exec(text); match !== null; match = DURATION.exec(text)) {
    total += Number(match[1]) * (TIME_UNITS[match[2] ?? ''] ?? 0);
    at = DURATION.lastIndex;
  }
  return at === text.length ? BigInt(Math.round(total)) : null;
}

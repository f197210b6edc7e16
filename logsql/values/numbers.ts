/**
 * Numbers as LogsQL reads them from values and queries: decimals, sizes (`10KiB`, `1.5MB`), durations in nanoseconds (`1h30m`),
 * IPv4 addresses and RFC 3339 times. Functions return null where the string is not one.
 */

import { TIME_UNITS } from '../../pipeline/core/time.ts';

const DIGITS = /^[0-9_]+$/;
const SIMPLE = /^-?[0-9]{1,15}(?:\.[0-9]{1,15})?$/;
const DECIMAL = /^-?[0-9_]+(?:\.[0-9_]+)?$/;
const MAX_UINT64 = 18_446_744_073_709_551_615n;

/** An unsigned 64-bit integer; `_` between digits is allowed. */
export function parseUint(text: string): bigint | null {
  if (!DIGITS.test(text) || text.length > 26) return null;
  const value = BigInt(text.replaceAll('_', '') || '0');
  return value > MAX_UINT64 ? null : value;
}

/** A signed 64-bit integer in decimal digits. */
export function parseInteger(text: string): bigint | null {
  const isMinus = text.startsWith('-');
  const size = parseUint(isMinus ? text.slice(1) : text);
  if (size === null || size > (isMinus ? 1n << 63n : (1n << 63n) - 1n)) return null;
  return isMinus ? -size : size;
}

/** A decimal number of at most 20 characters: no exponent, no bare dot. */
export function parseDecimal(text: string): number | null {
  if (text.length > 20 || !DECIMAL.test(text)) return null;
  // Nothing but `_` is 0.
  return text.includes('_') ? Number(text.replaceAll('_', '')) || 0 : Number(text);
}

const BYTE_UNITS: Readonly<Record<string, number>> = {
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  K: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  B: 1,
  '': 1,
};
const BYTES = /([0-9._]+)(KiB|MiB|GiB|TiB|Ki|Mi|Gi|Ti|KB|MB|GB|TB|[KMGTB]|$)/y;
const DURATION = /([0-9._]+)(µs|ms|ns|[ywdhms])/y;

/** A sum of numbers with units, each truncated to an integer; null when anything else is in the string. */
function sumOfUnits(text: string, pattern: RegExp, units: Readonly<Record<string, number>>): number | null {
  const isMinus = text.startsWith('-');
  let at = isMinus ? 1 : 0;
  if (at === text.length) return null;
  let total = 0;
  while (at < text.length) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    const size = match === null ? null : parseDecimal(match[1] ?? '');
    if (match === null || size === null) return null;
    if (match[2] === '' && !Number.isInteger(size)) return null;
    total += Math.trunc(size * (units[match[2] ?? ''] ?? 1));
    at = pattern.lastIndex;
  }
  return isMinus ? -total : total;
}

/** A size in bytes: `10KiB`, `1.5MB`, `2K`, `700B`, or an integer. */
export const parseBytes = (text: string): number | null => sumOfUnits(text, BYTES, BYTE_UNITS);
/** A duration in nanoseconds: `1h30m`, `250ms`, `-1.5s`. */
export const parseDuration = (text: string): number | null => sumOfUnits(text, DURATION, TIME_UNITS);

const IPV4 = /^([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})$/;

/** An IPv4 address as an unsigned 32-bit number. */
export function parseIpv4(text: string): number | null {
  const match = IPV4.exec(text);
  if (match === null) return null;
  let value = 0;
  for (const octet of match.slice(1)) {
    if (Number(octet) > 255) return null;
    value = value * 256 + Number(octet);
  }
  return value;
}

/** The dotted form of an unsigned 32-bit number. */
export const formatIpv4 = (value: number): string => [24, 16, 8, 0].map((shift) => String((value >>> shift) & 255)).join('.');

const TIMESTAMP =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})[T ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.?([0-9]{1,9}))?(?:Z|([+-])([0-9]{1,2}):([0-9]{1,2}))?$/;

/** A whole RFC 3339 time (`T` or a space; no zone is UTC) in nanoseconds since the epoch. */
export function parseTimestamp(text: string): bigint | null {
  if (text.length < 19) return null;
  const match = TIMESTAMP.exec(text);
  if (match === null) return null;
  const [, year, month, day, hour, minute, second, fraction = '', sign, zoneHour = '0', zoneMinute = '0'] = match;
  if (Number(year) < 1677 || Number(year) > 2262 || Number(zoneHour) > 24 || Number(zoneMinute) > 60) return null;
  const ms = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
  const zone = BigInt(Number(zoneHour) * 60 + Number(zoneMinute)) * 60_000_000_000n;
  const ns = BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, '0') || '0');
  return sign === '-' ? ns + zone : sign === '+' ? ns - zone : ns;
}

/** No part of it can take the digits of another, so that it is read in one pass. */
const FLOAT = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;
const INFINITY = /^[+-]?inf$/i;
const BASED = /^([+-]?)(0(?:[xX](?:_?[0-9a-fA-F])+|[bB](?:_?[01])+|[oO](?:_?[0-7])+))$/;

/** True for a string that begins like a number: an optional sign, then `inf`, a digit or a dot and a digit. */
export const isNumberPrefix = (text: string): boolean => INFINITY.test(text) || /^[+-]?\.?[0-9]/.test(text);

/** A number, a size or a duration; also exponents, `inf` and hex, octal and binary integers. */
export function parseNumber(text: string): number | null {
  if (SIMPLE.test(text)) return Number(text);
  const unit = parseDecimal(text) ?? parseDuration(text) ?? parseBytes(text);
  if (unit !== null) return unit;
  if (INFINITY.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  if (FLOAT.test(text)) {
    const value = Number(text);
    return Number.isFinite(value) ? value : null;
  }
  const based = BASED.exec(text);
  if (based === null) return null;
  const size = BigInt((based[2] ?? '').replaceAll('_', '').toLowerCase());
  return size >= 1n << 63n ? null : Number(based[1] === '-' ? -size : size);
}

/** Whatever compares as a number: a number, size or duration, an RFC 3339 time in nanoseconds, an IPv4 address; NaN for the rest. */
export function numericValue(text: string): number {
  if (text === '') return NaN;
  const number = parseNumber(text);
  if (number !== null) return number;
  const time = parseTimestamp(text);
  return time === null ? (parseIpv4(text) ?? NaN) : Number(time);
}

/** A float without an exponent and with the fewest digits that read back the same; `NaN`, `+Inf`, `-Inf`. */
export function formatFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const text = String(value);
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (match === null) return text;
  const [, sign = '', head = '', tail = '', exponent = '0'] = match;
  const digits = head + tail;
  const point = 1 + Number(exponent);
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  return sign + (point >= digits.length ? digits.padEnd(point, '0') : `${digits.slice(0, point)}.${digits.slice(point)}`);
}

/** A duration in the form that `parseDuration` reads: `1h2m3.5s`, `15ms20µs`; '0' for none. */
export function formatDuration(nanoseconds: number): string {
  if (nanoseconds === 0) return '0';
  let rest = Math.abs(nanoseconds);
  const hasSeconds = rest >= 1e9;
  let out = nanoseconds < 0 ? '-' : '';
  for (const [unit, size] of [
    ['w', 6.048e14],
    ['d', 8.64e13],
    ['h', 3.6e12],
    ['m', 6e10],
  ] as const) {
    const count = Math.floor(rest / size);
    if (count > 0) out += String(count) + unit;
    rest -= count * size;
  }
  if (hasSeconds) return rest >= 1e9 ? `${out}${formatFloat(rest / 1e9)}s` : out + formatBelowSecond(rest);
  return out + formatBelowSecond(rest);
}

function formatBelowSecond(nanoseconds: number): string {
  let out = '';
  let rest = nanoseconds;
  for (const [unit, size] of [
    ['ms', 1e6],
    ['µs', 1e3],
    ['ns', 1],
  ] as const) {
    const count = Math.floor(rest / size);
    if (count > 0) out += String(count) + unit;
    rest -= count * size;
  }
  return out;
}

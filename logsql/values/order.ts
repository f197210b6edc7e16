/** How values compare: natural order with numbers by size (`1.9.0` before `1.10.0`), and plain order of bytes. */
import { compareExactly } from './exact.ts';
import { parseDecimal, parseInteger, parseIpv4, parseNumber, parseTimestamp, parseUint } from './numbers.ts';

const SMALL_INTEGER = /^-?[0-9]{1,15}$/;

/** Order of the UTF-8 bytes of two strings, as ClickHouse and Go compare: negative, 0 or positive. */
export function compareBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i += 1) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

const isDigit = (unit: number): boolean => unit >= 48 && unit <= 57;
/** A surrogate stands for a character above U+FFFF, so it is greater than any unit that is not one. */
const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);

function endOfRun(text: string, from: number): number {
  let at = from;
  while (at < text.length && isDigit(text.charCodeAt(at))) at += 1;
  return at;
}

/** Natural order: runs of digits by their numbers, all else by bytes; a digit comes before anything else, an end before all. */
export function compareNatural(a: string, b: string): number {
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(j);
    if (isDigit(x) && isDigit(y)) {
      const endX = endOfRun(a, i);
      const endY = endOfRun(b, j);
      const order = compareRuns(a.slice(i, endX), b.slice(j, endY));
      if (order !== 0) return order;
      i = endX;
      j = endY;
    } else if (x === y) {
      i += 1;
      j += 1;
    } else if (isDigit(x) || isDigit(y)) return isDigit(x) ? -1 : 1;
    else return rank(x) - rank(y);
  }
  return a.length - i - (b.length - j);
}

/** Digits by their number, however many; of equal ones that with fewer zeros in front comes first. */
function compareRuns(a: string, b: string): number {
  if (a.length <= 15 && b.length <= 15) return Number(a) - Number(b) || a.length - b.length;
  const x = a.replace(/^0+/, '');
  const y = b.replace(/^0+/, '');
  if (x.length !== y.length) return x.length - y.length;
  return x === y ? a.length - b.length : x < y ? -1 : 1;
}

/**
 * The order of `sort` with a limit, `min`, `max` and `quantile`: the empty value, numbers by size, times, then strings in natural order. In
 * VictoriaLogs a number and a string are compared as two strings. So values may come in a ring (`5m` < `1e16` < `1took` < `5m`), and a
 * sort gives what the order of its rows makes of it.
 */
export function compareValues(a: string, b: string): number {
  if (a === b) return 0;
  if (SMALL_INTEGER.test(a) && SMALL_INTEGER.test(b)) return Number(a) - Number(b);
  return (
    compareAs(a, b, parseInteger) ??
    compareAs(a, b, parseUint) ??
    compareAs(a, b, parseTimestamp) ??
    compareNumbers(a, b, parseNumber) ??
    (kindOf(a) - kindOf(b) || compareNatural(a, b))
  );
}

function kindOf(text: string): number {
  if (text === '') return 0;
  if (parseNumber(text) !== null || parseInteger(text) !== null || parseUint(text) !== null) return 1;
  return parseTimestamp(text) === null ? 3 : 2;
}

function compareAs(a: string, b: string, parse: (text: string) => bigint | number | null): number | null {
  const x = parse(a);
  if (x === null) return null;
  const y = parse(b);
  if (y === null) return null;
  return x === y ? 0 : x < y ? -1 : 1;
}

const isCanonicalTime = (text: string): boolean => text.length >= 20 && text.charCodeAt(10) === 84 && text.endsWith('Z');

/** The order of times as entries have them (`2026-11-18T10:00:00.5Z`); other strings as `compareValues` has it. */
export function compareTimes(a: string, b: string): number {
  if (!isCanonicalTime(a) || !isCanonicalTime(b)) return compareValues(a, b);
  const x = a.slice(0, -1);
  const y = b.slice(0, -1);
  return x < y ? -1 : x > y ? 1 : 0;
}

/** By size, without rounding; null where one is no number. */
function compareNumbers(a: string, b: string, parse: (text: string) => number | null): number | null {
  const x = parse(a);
  const y = x === null ? null : parse(b);
  return x === null || y === null ? null : compareExactly(a, x, b, y);
}

const LONG = /^-?[0-9]{1,38}(?:\.[0-9]{1,38})?$/;
/** A decimal without an exponent or a unit. */
const writtenOut = (text: string): number | null => parseDecimal(text) ?? (LONG.test(text) ? Number(text) : null);

/** The order of `sort` without a limit: whole numbers and IPv4 addresses by size, then decimals, else natural order (units are not read). */
export function compareSorted(a: string, b: string): number {
  if (a === b) return 0;
  const x = wholeNumber(a);
  const y = wholeNumber(b);
  if (x !== 0n && y !== 0n) return x === y ? 0 : x < y ? -1 : 1;
  return compareNumbers(a, b, writtenOut) ?? compareNatural(a, b);
}

const wholeNumber = (text: string): bigint => parseInteger(text) ?? BigInt(parseIpv4(text) ?? 0);

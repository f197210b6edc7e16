/**
 * Numbers compared without rounding. A float tells whole numbers apart up to 2^53 only; of numbers with the same float the digits
 * decide, to 20 decimals. `exactSql` (logsql/sql/exact.ts) does the same.
 */
import { parseTimestamp } from './numbers.ts';

/** Decimals that are looked at. */
const DECIMALS = 20;
export const ONE = 10n ** BigInt(DECIMALS);
/** From here on floats alone are compared: ClickHouse's decimals end. */
export const MOST_EXACT = 1e38;
/** Below this floats have bits enough for a few decimals. */
export const EXACT_FROM = 2 ** 46;

const WRITTEN_OUT = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?$/;

/** The number in steps of 10^-20, towards zero, of a string for which `numericValue` gave this; null where floats are all there is. */
export function exactValue(text: string, value: number): bigint | null {
  if (!(Math.abs(value) < MOST_EXACT)) return null;
  const match = WRITTEN_OUT.exec(text.includes('_') ? text.replaceAll('_', '') : text);
  if (match === null) return (parseTimestamp(text) ?? BigInt(Math.trunc(value))) * ONE;
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  const digits = (whole + fraction).replace(/^0+/, '');
  if (digits === '') return 0n;
  const shift = DECIMALS - fraction.length + Number(exponent);
  const steps = shift >= 0 ? BigInt(digits) * 10n ** BigInt(shift) : BigInt(digits.slice(0, shift) || '0');
  return sign === '-' ? -steps : steps;
}

/** The order of two numbers with their floats, by size: negative, 0 or positive. */
export function compareExactly(a: string, x: number, b: string, y: number): number {
  if (x !== y) return x < y ? -1 : 1;
  if (a === b || !(Math.abs(x) >= EXACT_FROM)) return 0;
  const [m, n] = [exactValue(a, x), exactValue(b, y)];
  return m === null || n === null || m === n ? 0 : m < n ? -1 : 1;
}

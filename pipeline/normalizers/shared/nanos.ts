import { parseTime } from '../../core/time.ts';
import type { SplitTime } from '../../rows/halves.ts';

/** Most digits of a 64-bit number. */
const MAX_DIGITS = 20;

/**
 * Reads the decimal text `bytes[start..end)` of nanoseconds since the epoch, without making a string of it. A number in scientific
 * notation or with a fraction, as some languages print large ones, is taken too. False where it is something else, or negative.
 */
export function readNanos(bytes: Buffer, start: number, end: number, into: SplitTime): boolean {
  if (end - start > MAX_DIGITS || end === start) return readFloat(bytes, start, end, into);
  let seconds = 0;
  let nanos = 0;
  for (let at = start; at < end; at++) {
    const digit = (bytes[at] as number) - 0x30;
    if (digit < 0 || digit > 9) return readFloat(bytes, start, end, into);
    if (at < end - 9) seconds = seconds * 10 + digit;
    else nanos = nanos * 10 + digit;
  }
  into.seconds = seconds;
  into.nanos = nanos;
  return true;
}

function readFloat(bytes: Buffer, start: number, end: number, into: SplitTime): boolean {
  const text = end - start > 64 ? '' : bytes.toString('latin1', start, end);
  const size = /^\d+(?:\.\d+)?(?:[eE]\+?\d+)?$/.test(text) ? Number(text) : NaN;
  if (!(size < 2 ** 64)) return false;
  // from 1e17 on, a number's text is nanoseconds to `parseTime` too, which reads every digit
  const ns = (size < 1e17 ? null : parseTime(text)) ?? BigInt(Math.floor(size));
  into.seconds = Number(ns / 1_000_000_000n);
  into.nanos = Number(ns % 1_000_000_000n);
  return true;
}

/**
 * A strict JSON (RFC 8259) tokenizer over bytes that are known to be valid UTF-8. Every function takes the offset where a token
 * begins and gives the offset after it, or -1 where the bytes are not JSON; `failedAt` is then the place. Nothing is decoded and
 * nothing is recursive, so neither size nor depth of hostile input can hurt.
 */
import { BACKSLASH, CLOSE_ARRAY, CLOSE_OBJECT, COLON, COMMA, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from './bytes.ts';

/** What the last string held: nothing special, an escape that may stay as it is, or a `\u` escape that must be looked at. */
export const PLAIN = 0;
const ESCAPED = 1;
export const UNICODE_ESCAPED = 2;

/** Where the last failing token went wrong, and what the last string held. Module state: the tokenizer is synchronous. */
export const last = { failedAt: 0, escapes: PLAIN };

function fail(at: number): -1 {
  last.failedAt = at;
  return -1;
}

/** Notes where the bytes are not valid JSON: here, or at their end. */
export const failAt = (at: number, end: number): -1 => fail(Math.min(at, end));

/** The offset of the first byte at or after `at` that is not JSON white space. */
export function skipSpace(bytes: Uint8Array, at: number, end: number): number {
  while (at < end) {
    const byte = bytes[at] as number;
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break;
    at += 1;
  }
  return at;
}

/** A string, from its opening quote. Sets `last.escapes`. */
export function skipString(bytes: Uint8Array, at: number, end: number): number {
  let escapes = PLAIN;
  let i = at + 1;
  while (i < end) {
    const byte = bytes[i] as number;
    if (byte === QUOTE) {
      last.escapes = escapes;
      return i + 1;
    }
    if (byte === BACKSLASH) {
      const escape = bytes[i + 1];
      if (escape === 0x75) {
        for (let digit = i + 2; digit < i + 6; digit++) if (!isHex(bytes[digit])) return fail(i);
        escapes = UNICODE_ESCAPED;
        i += 6;
      } else if (isEscape(escape)) {
        if (escapes === PLAIN) escapes = ESCAPED;
        i += 2;
      } else return fail(i);
    } else if (byte < 0x20) return fail(i);
    else i += 1;
  }
  return failAt(i, end);
}

function isHex(byte: number | undefined): boolean {
  return byte !== undefined && ((byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66));
}

/** One of `" \ / b f n r t`. */
function isEscape(byte: number | undefined): boolean {
  return (
    byte === QUOTE ||
    byte === BACKSLASH ||
    byte === 0x2f ||
    byte === 0x62 ||
    byte === 0x66 ||
    byte === 0x6e ||
    byte === 0x72 ||
    byte === 0x74
  );
}

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;

/** A number, from its first byte. */
export function skipNumber(bytes: Uint8Array, at: number, end: number): number {
  let i = at;
  if (bytes[i] === 0x2d) i += 1;
  if (bytes[i] === 0x30) i += 1;
  else if (isDigit(bytes[i])) while (i < end && isDigit(bytes[i])) i += 1;
  else return fail(i);
  if (i < end && bytes[i] === 0x2e) {
    const fraction = ++i;
    while (i < end && isDigit(bytes[i])) i += 1;
    if (i === fraction) return fail(i);
  }
  if (i < end && (bytes[i] === 0x65 || bytes[i] === 0x45)) {
    i += 1;
    if (bytes[i] === 0x2b || bytes[i] === 0x2d) i += 1;
    const exponent = i;
    while (i < end && isDigit(bytes[i])) i += 1;
    if (i === exponent) return fail(i);
  }
  return i > end ? fail(end) : i;
}

/** `true`, `false` or `null`, from its first byte. */
export function skipWord(bytes: Uint8Array, at: number, end: number): number {
  const word = bytes[at] === 0x74 ? 'true' : bytes[at] === 0x66 ? 'false' : 'null';
  for (let i = 0; i < word.length; i++) if (at + i >= end || bytes[at + i] !== word.charCodeAt(i)) return fail(at);
  return at + word.length;
}

/** A string, number or word, from its first byte. */
function skipScalar(bytes: Uint8Array, at: number, end: number): number {
  const byte = bytes[at];
  if (byte === QUOTE) return skipString(bytes, at, end);
  if (byte === 0x2d || isDigit(byte)) return skipNumber(bytes, at, end);
  if (byte === 0x74 || byte === 0x66 || byte === 0x6e) return skipWord(bytes, at, end);
  return fail(at);
}

/** How deep the last value of `skipValue` was nested, and whether white space stood between its tokens. */
export const shape = { depth: 0, spaced: false };

/** Any value, from its first byte; -1 as soon as it is nested deeper than `mostDepth`. Nesting is followed by a stack of its own. Sets `shape`. */
export function skipValue(bytes: Uint8Array, at: number, end: number, mostDepth = Infinity): number {
  shape.depth = 0;
  shape.spaced = false;
  let i = at;
  if (i >= end) return fail(end);
  if (bytes[i] !== OPEN_OBJECT && bytes[i] !== OPEN_ARRAY) return skipScalar(bytes, i, end);
  const closers: number[] = [];
  for (;;) {
    const byte = bytes[i];
    if (i < end && (byte === OPEN_OBJECT || byte === OPEN_ARRAY)) {
      const closer = byte === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_ARRAY;
      const inside = space(bytes, i + 1, end);
      closers.push(closer);
      if (closers.length > shape.depth) {
        shape.depth = closers.length;
        if (shape.depth > mostDepth) return fail(i);
      }
      if (bytes[inside] !== closer || inside >= end) {
        i = closer === CLOSE_OBJECT ? skipName(bytes, inside, end) : inside;
        if (i < 0) return -1;
        continue;
      }
      i = inside;
    } else {
      i = i < end ? skipScalar(bytes, i, end) : fail(end);
      if (i < 0 || closers.length === 0) return i;
      i = space(bytes, i, end);
    }
    i = closeAll(bytes, i, end, closers);
    if (i < 0 || closers.length === 0) return i;
  }
}

/** After a value: closes what ends here; then, behind a comma, gives the offset of the next value. */
function closeAll(bytes: Uint8Array, at: number, end: number, closers: number[]): number {
  let i = at;
  while (closers.length > 0) {
    const closer = closers[closers.length - 1] as number;
    if (i < end && bytes[i] === closer) {
      closers.pop();
      i += 1;
      if (closers.length > 0) i = space(bytes, i, end);
    } else if (i < end && bytes[i] === COMMA) {
      i = space(bytes, i + 1, end);
      return closer === CLOSE_OBJECT ? skipName(bytes, i, end) : i;
    } else return fail(i);
  }
  return i;
}

/** A name and its colon; gives the offset of the value. */
function skipName(bytes: Uint8Array, at: number, end: number): number {
  if (at >= end || bytes[at] !== QUOTE) return failAt(at, end);
  let i = skipString(bytes, at, end);
  if (i < 0) return -1;
  i = space(bytes, i, end);
  if (i >= end || bytes[i] !== COLON) return failAt(i, end);
  return space(bytes, i + 1, end);
}

function space(bytes: Uint8Array, at: number, end: number): number {
  const after = skipSpace(bytes, at, end);
  if (after !== at) shape.spaced = true;
  return after;
}

/** JSON without the white space between its tokens; it must be valid. */
export function compact(text: string): string {
  return text.replace(/("(?:[^"\\]|\\.)*")|[ \t\r\n]+/g, (_all, string?: string) => string ?? '');
}

// JSON tokens (RFC 8259) over valid UTF-8, by the rules of pipeline/wire/json-tokens.ts. Each function takes where a token begins and
// gives where it ends, or 0 where there is none before `end`.

/** A `skip…` failed since the bytes ended, so that more of them might help. */
export let isShort = false;

export function clearShort(): void {
  isShort = false;
}

export function short(): usize {
  isShort = true;
  return 0;
}

/** What the last string held: nothing special, an escape that may stay as it is, or a `\u` escape that must be looked at. */
export const PLAIN: u32 = 0;
export const ESCAPED: u32 = 1;
export const UNICODE_ESCAPED: u32 = 2;
export let escapes: u32 = PLAIN;

const QUOTE: u32 = 0x22;
const BACKSLASH: u32 = 0x5c;
const OPEN_OBJECT: u32 = 0x7b;
const CLOSE_OBJECT: u32 = 0x7d;
const OPEN_ARRAY: u32 = 0x5b;
const CLOSE_ARRAY: u32 = 0x5d;

/** Deeper values are not followed here. */
const MAX_NESTING: u32 = 32;

export function skipSpace(at: usize, end: usize): usize {
  while (at < end) {
    const byte = <u32>load<u8>(at);
    if (byte != 0x20 && byte != 0x0a && byte != 0x0d && byte != 0x09) break;
    at += 1;
  }
  return at;
}

/** A string, from its opening quote. Sets `escapes`. */
export function skipString(at: usize, end: usize): usize {
  const quotes = i8x16.splat(<i8>QUOTE);
  const backslashes = i8x16.splat(<i8>BACKSLASH);
  const controls = i8x16.splat(0x20);
  escapes = PLAIN;
  at += 1;
  while (at < end) {
    const bytes = v128.load(at);
    const special = v128.or(v128.or(i8x16.eq(bytes, quotes), i8x16.eq(bytes, backslashes)), i8x16.lt_u(bytes, controls));
    const mask = i8x16.bitmask(special);
    if (mask == 0) {
      at += 16;
      continue;
    }
    at += <usize>ctz(mask);
    if (at >= end) break;
    const byte = <u32>load<u8>(at);
    if (byte == QUOTE) return at + 1;
    if (byte != BACKSLASH) return 0;
    at = skipEscape(at, end);
    if (at == 0) return 0;
  }
  return short();
}

function skipEscape(at: usize, end: usize): usize {
  if (at + 1 >= end) return short();
  const escape = <u32>load<u8>(at, 1);
  if (escape == 0x75) {
    if (at + 6 > end) return short();
    for (let digit = at + 2; digit < at + 6; digit++) if (!isHex(load<u8>(digit))) return 0;
    escapes = UNICODE_ESCAPED;
    return at + 6;
  }
  if (!isEscape(escape)) return 0;
  if (escapes == PLAIN) escapes = ESCAPED;
  return at + 2;
}

function isHex(byte: u32): bool {
  return isDigit(byte) || (byte | 0x20) - 0x61 < 6;
}

/** One of `" \ / b f n r t`. */
function isEscape(byte: u32): bool {
  return byte == QUOTE || byte == BACKSLASH || byte == 0x2f || byte == 0x62 || byte == 0x66 || byte == 0x6e || byte == 0x72 || byte == 0x74;
}

export function isDigit(byte: u32): bool {
  return byte - 0x30 < 10;
}

function skipDigits(at: usize, end: usize): usize {
  while (at < end && isDigit(load<u8>(at))) at += 1;
  return at;
}

/** A number, from its first byte. What may follow one is not looked at. */
export function skipNumber(at: usize, end: usize): usize {
  if (load<u8>(at) == 0x2d) at += 1;
  if (at >= end) return short();
  if (load<u8>(at) == 0x30) at += 1;
  else {
    const whole = at;
    at = skipDigits(at, end);
    if (at == whole) return 0;
  }
  if (at < end && load<u8>(at) == 0x2e) {
    const fraction = at + 1;
    at = skipDigits(fraction, end);
    if (at == fraction) return at < end ? 0 : short();
  }
  if (at < end && (load<u8>(at) | 0x20) == 0x65) {
    at += 1;
    if (at < end && (load<u8>(at) == 0x2b || load<u8>(at) == 0x2d)) at += 1;
    const exponent = at;
    at = skipDigits(at, end);
    if (at == exponent) return at < end ? 0 : short();
  }
  return at;
}

/** `true`, `false` or `null`, from its first byte. */
export function skipWord(at: usize, end: usize): usize {
  const isFalse = load<u8>(at) == 0x66;
  const after = at + (isFalse ? 5 : 4);
  if (after > end) return short();
  if (isFalse) return load<u32>(at, 1) == 0x65736c61 ? after : 0;
  const word = load<u32>(at);
  return word == 0x65757274 || word == 0x6c6c756e ? after : 0;
}

/** Any value, from its first byte; `depth`: in how many others it stands. */
export function skipValue(at: usize, end: usize, depth: u32): usize {
  if (at >= end) return short();
  const byte = <u32>load<u8>(at);
  if (byte == QUOTE) return skipString(at, end);
  if (byte == OPEN_OBJECT || byte == OPEN_ARRAY) return skipMembers(at, end, byte == OPEN_OBJECT, depth + 1);
  if (byte == 0x2d || isDigit(byte)) return skipNumber(at, end);
  return skipWord(at, end);
}

function skipMembers(at: usize, end: usize, isObject: bool, depth: u32): usize {
  if (depth > MAX_NESTING) return 0;
  const closer = isObject ? CLOSE_OBJECT : CLOSE_ARRAY;
  at = skipSpace(at + 1, end);
  if (at >= end) return short();
  if (<u32>load<u8>(at) == closer) return at + 1;
  while (true) {
    if (isObject) {
      at = skipName(at, end);
      if (at == 0) return 0;
    }
    at = skipValue(at, end, depth);
    if (at == 0) return 0;
    at = skipSpace(at, end);
    if (at >= end) return short();
    const byte = <u32>load<u8>(at);
    if (byte == closer) return at + 1;
    if (byte != 0x2c) return 0;
    at = skipSpace(at + 1, end);
  }
}

/** A name and its colon; gives where the value begins. */
function skipName(at: usize, end: usize): usize {
  if (at >= end) return short();
  if (<u32>load<u8>(at) != QUOTE) return 0;
  at = skipString(at, end);
  if (at == 0) return 0;
  return skipColon(at, end);
}

/** What stands between a name and its value; gives where the value begins. */
export function skipColon(at: usize, end: usize): usize {
  at = skipSpace(at, end);
  if (at >= end) return short();
  return load<u8>(at) == 0x3a ? skipSpace(at + 1, end) : 0;
}

/** IPv6 addresses as text (RFC 4291, section 2.2; zones: RFC 4007): pure functions on a message's bytes. */
import { isDigit, isHex, isLetter } from './byte-classes.ts';

const [PERCENT, DOT, SLASH, COLON, BRACKET, BRACKET_END, STAR] = [0x25, 0x2e, 0x2f, 0x3a, 0x5b, 0x5d, 0x2a] as const;
const GROUPS = 8;
/** The longest address in brackets, with a zone. */
const LONGEST = 80;

type Bytes = Uint8Array;

/** How many bytes from `index` are such, at most `most`. */
function count(bytes: Bytes, index: number, end: number, is: (byte: number) => boolean, most: number): number {
  let at = index;
  while (at < end && at - index < most && is(bytes[at] as number)) at += 1;
  return at - index;
}

/** The end of `192.0.2.1`, or -1. */
function quadEnd(bytes: Bytes, start: number, end: number): number {
  let index = start;
  for (let part = 0; part < 4; part += 1) {
    if (part > 0) {
      if (bytes[index] !== DOT) return -1;
      index += 1;
    }
    const size = count(bytes, index, end, isDigit, 3);
    if (size === 0) return -1;
    index += size;
  }
  return index;
}

const isZone = (byte: number): boolean =>
  isLetter(byte) || isDigit(byte) || byte === 0x5f || byte === 0x2d || byte === DOT || byte === PERCENT;

function portEnd(bytes: Bytes, index: number, end: number): number {
  const size = index < end && bytes[index] === COLON ? count(bytes, index + 1, end, isDigit, 5) : 0;
  return size === 0 ? index : index + 1 + size;
}

/** What follows the groups: a zone, the length of a prefix, and a port where it cannot be a group. */
function tailEnd(bytes: Bytes, from: number, end: number, isFull: boolean): number {
  let index = from;
  if (index < end && bytes[index] === PERCENT) {
    let size = count(bytes, index + 1, end, isZone, LONGEST);
    while (size > 0 && !isLetter(bytes[index + size] as number) && !isDigit(bytes[index + size] as number)) size -= 1;
    if (size > 0) index += 1 + size;
  }
  if (index < end && bytes[index] === SLASH) {
    const size = count(bytes, index + 1, end, isDigit, 3);
    if (size > 0) index += 1 + size;
  }
  return isFull ? portEnd(bytes, index, end) : index;
}

/** The end of the address that begins at `start`, with its zone and prefix; -1 where none does, or what may as well be names: `a::b`. */
export function addressEnd(bytes: Bytes, start: number, end: number): number {
  let [index, groups, gapAt, longest] = [start, 0, -1, 0];
  let [hasDigit, isQuad] = [false, false];
  if (bytes[start] === COLON) {
    if (start + 1 >= end || bytes[start + 1] !== COLON) return -1;
    [index, gapAt] = [start + 2, 0];
  }
  while (index < end && groups < GROUPS) {
    const size = count(bytes, index, end, isHex, 5);
    if (size === 0) break;
    if (size > 4) return -1;
    if (bytes[index + size] === DOT && index + size < end) {
      const quad = groups <= GROUPS - 2 ? quadEnd(bytes, index, end) : -1;
      if (quad < 0 && (index === start || bytes[index - 1] !== COLON)) return -1;
      if (quad >= 0) {
        [index, groups, isQuad, hasDigit] = [quad, groups + 2, true, true];
        break;
      }
    }
    for (let at = index; at < index + size; at += 1) if (isDigit(bytes[at] as number)) hasDigit = true;
    groups += 1;
    longest = Math.max(longest, size);
    index += size;
    if (index + 1 >= end || bytes[index] !== COLON) break;
    if (bytes[index + 1] === COLON) {
      if (gapAt >= 0) break;
      gapAt = groups;
      index += 2;
    } else if (groups < GROUPS && isHex(bytes[index + 1] as number)) index += 1;
    else break;
  }
  if (gapAt < 0 ? groups !== GROUPS : groups >= GROUPS) return -1;
  if (!isLikely(groups, gapAt, hasDigit, longest)) return -1;
  return tailEnd(bytes, index, end, isQuad || gapAt < 0);
}

/** Whether groups with a gap are more likely an address than names of a program. */
function isLikely(groups: number, gapAt: number, hasDigit: boolean, longest: number): boolean {
  if (gapAt < 0 || groups === 0) return true;
  if (gapAt === groups && groups === 1) return hasDigit && longest > 2;
  return hasDigit || groups >= (gapAt > 0 && gapAt < groups ? 3 : 2);
}

/** The end of `:::8080`, any address with a port; -1 where none is. */
export function anyWithPortEnd(bytes: Bytes, start: number, end: number): number {
  if (start + 3 >= end || bytes[start] !== COLON || bytes[start + 1] !== COLON) return -1;
  const after = portEnd(bytes, start + 2, end);
  return after === start + 2 ? -1 : after;
}

/** The index after the address in brackets that begins at `bracket`; -1 where none does. */
export function bracketEnd(bytes: Bytes, bracket: number, end: number): number {
  const after = addressEnd(bytes, bracket + 1, end);
  return after > 0 && after < end && bytes[after] === BRACKET_END ? after + 1 : -1;
}

/** The end of the port, `:8080` or `:*`, that follows an address in brackets at `colon`; -1 where it does not. */
export function portBehindBrackets(bytes: Bytes, from: number, colon: number, end: number): number {
  if (colon <= from || bytes[colon - 1] !== BRACKET_END) return -1;
  let bracket = colon - 2;
  while (bracket > from && colon - bracket < LONGEST && bytes[bracket] !== BRACKET) bracket -= 1;
  if (bytes[bracket] !== BRACKET || bracketEnd(bytes, bracket, end) !== colon) return -1;
  if (colon + 1 < end && bytes[colon + 1] === STAR) return colon + 2;
  const after = portEnd(bytes, colon, end);
  return after === colon ? -1 : after;
}

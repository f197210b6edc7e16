// LZ4's block format: https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md
import { copy, repeat } from './copies';
import { INPUT, MAX_BLOCK, OUTPUT, ROOM, SEEN } from './memory';

const HASH_BITS: u32 = 13;
/** A match begins at least so far before the end of the block … */
const MATCH_START: usize = 12;
/** … and this many bytes at its end are literals. */
const LAST_LITERALS: usize = 5;
/** After this number of misses in a row the search takes longer steps. */
const PATIENCE: u32 = 6;

/**
 * Where these four bytes were last seen: the low half of a position, since a match reaches back less than that. What stands there of
 * another position is found out by comparing. 16 KB stay in the first cache; 14 bits took 15 % longer for 2 % less.
 */
function slot(four: u32): usize {
  return SEEN + (((four * 0x9e3779b1) >> (32 - HASH_BITS)) << 1);
}

/** The rest of a length whose nibble is 15. */
function putLength(to: usize, length: usize): usize {
  for (length -= 15; length >= 255; length -= 255) store<u8>(to++, 255);
  store<u8>(to++, <u8>length);
  return to;
}

/** How many bytes are equal from here on. */
function equalBytes(a: usize, b: usize, stop: usize): usize {
  const start = a;
  for (; a + 8 <= stop; a += 8, b += 8) {
    const differing = load<u64>(a) ^ load<u64>(b);
    if (differing != 0) return a - start + <usize>(ctz(differing) >> 3);
  }
  while (a < stop && load<u8>(a) == load<u8>(b)) (a++, b++);
  return a - start;
}

/** Makes a block of the first `size` bytes of the input; gives its length, or 0 when `size` is too large. */
export function lz4Compress(size: usize): usize {
  if (size > MAX_BLOCK) return 0;
  memory.fill(SEEN, 0, 1 << (HASH_BITS + 1));
  const end = INPUT + size;
  let anchor = INPUT;
  let to = OUTPUT;
  if (size > MATCH_START) {
    const lastStart = end - MATCH_START;
    const lastEnd = end - LAST_LITERALS;
    let at = INPUT;
    let tries: u32 = 1 << PATIENCE;
    while (at < lastStart) {
      const four = load<u32>(at);
      const place = slot(four);
      const offset = (at - <usize>load<u16>(place)) & 0xffff;
      store<u16>(place, <u16>at);
      let match = at - offset;
      if (offset == 0 || match < INPUT || load<u32>(match) != four) {
        at += tries++ >> PATIENCE;
        continue;
      }
      tries = 1 << PATIENCE;
      while (at > anchor && match > INPUT && load<u8>(at - 1) == load<u8>(match - 1)) (at--, match--);
      const literals = at - anchor;
      const length = equalBytes(at + 4, match + 4, lastEnd);
      store<u8>(to, <u8>((min<usize>(literals, 15) << 4) | min<usize>(length, 15)));
      to = literals < 15 ? to + 1 : putLength(to + 1, literals);
      copy(to, anchor, literals);
      to += literals;
      store<u16>(to, <u16>(at - match));
      to = length < 15 ? to + 2 : putLength(to + 2, length);
      at += 4 + length;
      anchor = at;
      if (at < lastStart) store<u16>(slot(load<u32>(at - 2)), <u16>(at - 2));
    }
  }
  const literals = end - anchor;
  store<u8>(to, <u8>(min<usize>(literals, 15) << 4));
  to = literals < 15 ? to + 1 : putLength(to + 1, literals);
  memory.copy(to, anchor, literals);
  return to + literals - OUTPUT;
}

/** Reads the rest of a length at `at`, which moves on; 0 when the block ends inside it. */
let at: usize = 0;
function restOfLength(end: usize): usize {
  let length: usize = 0;
  while (at < end) {
    const byte = <usize>load<u8>(at++);
    length += byte;
    if (byte != 255) return length + 15;
  }
  return 0;
}

/**
 * Whether the first `length` bytes of the input are a block of exactly `size` bytes, which then stand in the output. No content of the
 * block makes it read or write outside of input and output.
 */
export function lz4Decompress(length: usize, size: usize): bool {
  if (length > ROOM || size > MAX_BLOCK) return false;
  const end = INPUT + length;
  const stop = OUTPUT + size;
  let to = OUTPUT;
  at = INPUT;
  while (at < end) {
    const token = <usize>load<u8>(at++);
    let literals = token >> 4;
    if (literals == 15) {
      literals = restOfLength(end);
      if (literals == 0) return false;
    }
    if (literals > end - at || literals > stop - to) return false;
    copy(to, at, literals);
    at += literals;
    to += literals;
    if (at == end) return to == stop;
    if (end - at < 2) return false;
    const offset = <usize>load<u16>(at);
    at += 2;
    if (offset == 0 || offset > to - OUTPUT) return false;
    let match = (token & 15) + 4;
    if (match == 19) {
      match = restOfLength(end) + 4;
      if (match == 4) return false;
    }
    if (match > stop - to) return false;
    repeat(to, offset, match);
    to += match;
  }
  return false;
}

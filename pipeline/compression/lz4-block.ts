const HASH_BITS = 13;
/** A match begins at least so far before the end of the block … */
const MATCH_START = 12;
/** … and this many bytes at its end are literals. */
const LAST_LITERALS = 5;
const MAX_OFFSET = 65_535;
/** After this number of misses in a row (a power of two) the search takes longer steps. */
const PATIENCE = 6;

/** Where four bytes were last seen, for each hash; emptied for each block. */
const seen = new Int32Array(1 << HASH_BITS);

/** The length that a block of `size` bytes may reach: that of bytes which do not compress. */
export function lz4Bound(size: number): number {
  return size + Math.floor(size / 255) + 16;
}

/**
 * Writes bytes `start` to `end` as one block of https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md to `target` from `at` on, which
 * needs space for `lz4Bound(end - start)` bytes. Gives the bytes written.
 */
export function compressLz4Block(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
  const lastStart = end - MATCH_START;
  const lastEnd = end - LAST_LITERALS;
  let to = at;
  let anchor = start;
  let tries = 1 << PATIENCE;
  seen.fill(-1);
  for (let from = start; from < lastStart;) {
    const four = word(source, from);
    const slot = Math.imul(four, 0x9e3779b1) >>> (32 - HASH_BITS);
    let match = seen[slot] as number;
    seen[slot] = from;
    if (match < 0 || from - match > MAX_OFFSET || word(source, match) !== four) {
      from += tries++ >> PATIENCE;
      continue;
    }
    tries = 1 << PATIENCE;
    while (from > anchor && match > start && source[from - 1] === source[match - 1]) {
      from--;
      match--;
    }
    let length = 4;
    while (from + length < lastEnd && source[from + length] === source[match + length]) length++;
    to = putLiterals(source, anchor, from, target, to, Math.min(length - 4, 15));
    target[to++] = from - match;
    target[to++] = (from - match) >>> 8;
    if (length >= 19) to = putRest(target, to, length - 19);
    from += length;
    anchor = from;
  }
  return putLiterals(source, anchor, end, target, to, 0) - at;
}

function word(bytes: Uint8Array, at: number): number {
  return (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24);
}

/** A token, whose low half is that of the match that follows, and the literals before that match. */
function putLiterals(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number, low: number): number {
  const length = end - start;
  target[at++] = (Math.min(length, 15) << 4) | low;
  if (length >= 15) at = putRest(target, at, length - 15);
  if (length < 32) for (let from = start; from < end; from++) target[at++] = source[from] as number;
  else {
    target.set(source.subarray(start, end), at);
    at += length;
  }
  return at;
}

/** What a nibble of 15 leaves of a length: bytes of 255 and one below. */
function putRest(target: Uint8Array, at: number, rest: number): number {
  for (; rest >= 255; rest -= 255) target[at++] = 255;
  target[at++] = rest;
  return at;
}

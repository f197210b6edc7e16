// Snappy's block format, without the length before it: https://github.com/google/snappy/blob/main/format_description.txt
import { copy, repeat } from './copies';
import { INPUT, OUTPUT, ROOM } from './memory';

/** A literal whose length takes so many or more stands behind its length in bytes of its own. */
const LONG: usize = 60;

/**
 * Whether the first `length` bytes of the input are literals and copies of exactly `size` bytes, which then stand in the output. No content makes
 * it read or write outside of input and output.
 */
export function snappyDecompress(length: usize, size: usize): bool {
  if (length > ROOM || size > ROOM) return false;
  const end = INPUT + length;
  const stop = OUTPUT + size;
  let at = INPUT;
  let to = OUTPUT;
  while (at < end) {
    const tag = <usize>load<u8>(at++);
    const kind = tag & 3;
    if (kind == 0) {
      let literals = tag >> 2;
      if (literals >= LONG) {
        const extra = literals - LONG + 1;
        if (extra > end - at) return false;
        literals = load<u32>(at) & (<u32>0xffffffff >> <u32>(32 - 8 * extra));
        at += extra;
        if (literals >= ROOM) return false;
      }
      literals += 1;
      if (literals > end - at || literals > stop - to) return false;
      copy(to, at, literals);
      at += literals;
      to += literals;
      continue;
    }
    const width: usize = kind == 3 ? 4 : kind;
    if (width > end - at) return false;
    const part = kind == 1 ? ((tag >> 2) & 7) + 4 : (tag >> 2) + 1;
    const offset = kind == 1 ? ((tag >> 5) << 8) | <usize>load<u8>(at) : kind == 2 ? <usize>load<u16>(at) : <usize>load<u32>(at);
    at += width;
    if (offset == 0 || offset > to - OUTPUT || part > stop - to) return false;
    repeat(to, offset, part);
    to += part;
  }
  return to == stop;
}

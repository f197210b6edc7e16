// How LZ4 and Snappy copy; both write a little past the end of what they copy.

/** Copies in steps of 16 bytes, so up to 15 bytes more than `size`. */
export function copy(to: usize, from: usize, size: usize): void {
  const stop = to + size;
  do {
    v128.store(to, v128.load(from));
    to += 16;
    from += 16;
  } while (to < stop);
}

/** Writes `size` bytes again that lie `offset` back; they may reach into what is written by that. */
export function repeat(to: usize, offset: usize, size: usize): void {
  if (offset >= 16) return copy(to, to - offset, size);
  // sixteen bytes one by one; from then on a multiple of the offset is far enough back for steps of 8
  const stop = to + size;
  const first = min<usize>(stop, to + 16);
  while (to < first) (store<u8>(to, load<u8>(to - offset)), to++);
  const back = offset * (16 / offset);
  for (; to < stop; to += 8) store<u64>(to, load<u64>(to - back));
}

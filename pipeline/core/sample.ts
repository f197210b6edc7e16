/** The most bytes of an entry that are shown in an error. */
export const SAMPLE_BYTES = 200;

/** The first 200 bytes of `source[from..to)` as a string, cut between characters; invalid UTF-8 becomes U+FFFD. */
export function sampleOf(source: Buffer, from = 0, to = source.length): string {
  let end = Math.min(to, from + SAMPLE_BYTES);
  // a character of UTF-8 has at most three bytes after its first
  for (let back = 0; end < to && back < 3 && ((source[end] as number) & 0xc0) === 0x80; back++) end -= 1;
  return source.toString('utf8', from, end);
}

/** Bytes that are looked at to see whether a message that begins with a letter has a header. */
const LOOKED_AT = 64;
const [SPACE, COMMA, ZERO, NINE, COLON, LESS, EQUALS, BRACKET, BRACE] = [0x20, 0x2c, 0x30, 0x39, 0x3a, 0x3c, 0x3d, 0x5b, 0x7b];
const LOG = ['{"log":"', String.raw`{\"log\":\"`].map((text) => Buffer.from(text));

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= ZERO && byte <= NINE;

/** Whether a line that begins so may have a header: cheap, and true for each layout's example (`pipeline/clusterer/headers/layouts.ts`). */
export function mayBegin(bytes: Uint8Array, from: number, to: number): boolean {
  const first = bytes[from] as number;
  if (from >= to) return false;
  if (isDigit(first) || first === BRACKET || first === LESS || first === COLON) return true;
  if (first === BRACE) return LOG.some((mark) => mark.equals(bytes.subarray(from, Math.min(to, from + mark.length))));
  const [second, fourth] = [bytes[from + 1], bytes[from + 3]];
  // klog, Rails, and `May  6`
  if (isDigit(second) || second === COMMA) return true;
  if (fourth === SPACE && (isDigit(bytes[from + 4]) || isDigit(bytes[from + 5]))) return true;
  const end = Math.min(to, from + LOOKED_AT);
  for (let at = from; at < end; at++) {
    const byte = bytes[at];
    // `WARNING:shop:`, `time=`, and the time of an access log
    if ((byte === COLON || byte === EQUALS) && at - from <= 8) return true;
    if (byte === BRACKET && isDigit(bytes[at + 1])) return true;
  }
  return false;
}

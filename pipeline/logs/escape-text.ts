import { isUtf8 } from 'node:buffer';

/** The escapes of U+0000 to U+001F. */
const CONTROL_ESCAPES = Array.from({ length: 32 }, (_, code) => JSON.stringify(String.fromCharCode(code)).slice(1, -1));

/**
 * Writes the string `bytes[start..end)` as a JSON token from `at` on, where 6 bytes for each and 2 more must fit. Gives the
 * offset after it, -1 where the string is not UTF-8.
 */
export function escapeText(target: Buffer, at: number, bytes: Buffer, start: number, end: number): number {
  let to = at;
  let high = 0;
  target[to++] = 0x22;
  for (let from = start; from < end; from++) {
    const byte = bytes[from] as number;
    if (byte < 0x20) to += target.write(CONTROL_ESCAPES[byte] as string, to, 'latin1');
    else {
      if (byte === 0x22 || byte === 0x5c) target[to++] = 0x5c;
      target[to++] = byte;
      high |= byte;
    }
  }
  target[to++] = 0x22;
  return high >= 0x80 && !isUtf8(bytes.subarray(start, end)) ? -1 : to;
}

import { SPACE } from '../../wire/bytes.ts';

/** The offset of the next line feed, or the end of the body. */
export function endOfLine(body: Buffer, at: number): number {
  const end = body.indexOf(0x0a, at);
  return end < 0 ? body.length : end;
}

/** True where this string stands at `at`. */
export function startsWith(bytes: Buffer, at: number, text: Buffer): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[at + i] !== text[i]) return false;
  return true;
}

/** The offset behind a byte order mark at `at`; `at` where there is none. */
export function afterByteOrderMark(bytes: Buffer, at: number): number {
  return bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf ? at + 3 : at;
}

/** The offset of the next space, or `end`. */
export function untilSpace(bytes: Buffer, at: number, end: number): number {
  let i = at;
  while (i < end && bytes[i] !== SPACE) i += 1;
  return i;
}

/**
 * Escape sequences of terminals (ECMA-48): colours, links, titles. They are no text. Each begins with ESC, or with a control character of
 * its own (U+0080 to U+009F). Some libraries write the ESC of a colour as text: `\u001b[31m`.
 */
export const ESCAPE = 0x1b;
/** The first byte, as UTF-8, of U+0080 to U+00BF. */
export const C1 = 0xc2;
const [BELL, NEWLINE, SPACE, BRACKET, BACKSLASH, STRING_END, CSI] = [0x07, 0x0a, 0x20, 0x5b, 0x5c, 0x9c, 0x9b] as const;

type Bytes = Uint8Array;
const isIn = (byte: number | undefined, from: number, to: number): boolean => byte !== undefined && byte >= from && byte <= to;

/** Whether U+0090, U+0098 or one of U+009B to U+009F is at `index`. */
export function isControl(bytes: Bytes, index: number, end: number): boolean {
  if (bytes[index] !== C1 || index + 1 >= end) return false;
  const byte = bytes[index + 1] as number;
  return byte === 0x90 || byte === 0x98 || isIn(byte, CSI, 0x9f);
}

function skipWhile(bytes: Bytes, index: number, end: number, from: number, to: number): number {
  while (index < end && isIn(bytes[index], from, to)) index += 1;
  return index;
}

/** The end of a control sequence, from its parameters on: what is complete of it. */
function sequenceEnd(bytes: Bytes, from: number, end: number): number {
  const index = skipWhile(bytes, skipWhile(bytes, from, end, 0x30, 0x3f), end, SPACE, 0x2f);
  return index < end && isIn(bytes[index], 0x40, 0x7e) ? index + 1 : index;
}

/** Copies `bytes[from, end)` without escape sequences; an ESC that begins none becomes a blank. Returns the length. */
export function withoutEscapes(bytes: Bytes, from: number, end: number, out: Uint8Array): number {
  let length = 0;
  // up to here no string is closed
  let unclosed = from;
  const stringEnd = (start: number): number => {
    let index = Math.max(start, unclosed);
    if (unclosed > start) return start;
    for (; index < end; index += 1) {
      const byte = bytes[index];
      if (byte === BELL) return index + 1;
      if (byte === ESCAPE && bytes[index + 1] === BACKSLASH && index + 1 < end) return index + 2;
      if (byte === C1 && bytes[index + 1] === STRING_END && index + 1 < end) return index + 2;
      if (byte === ESCAPE || byte === NEWLINE) break;
    }
    unclosed = index;
    return start;
  };
  for (let index = from; index < end;) {
    const byte = bytes[index] as number;
    const next = index + 1 < end ? (bytes[index + 1] as number) : -1;
    if (byte === ESCAPE || isControl(bytes, index, end)) {
      // the 8-bit form is the letter after ESC, plus 0x40
      const kind = byte === ESCAPE ? next : next - 0x40;
      if (kind === BRACKET) index = sequenceEnd(bytes, index + 2, end);
      else if (kind === 0x50 || kind === 0x58 || isIn(kind, 0x5d, 0x5f)) index = stringEnd(index + 2);
      else if (byte !== ESCAPE) index += 2;
      else {
        const final = skipWhile(bytes, index + 1, end, SPACE + 1, 0x2f);
        if (final < end && isIn(bytes[final], 0x30, 0x7e)) index = final + 1;
        else {
          out[length] = SPACE;
          length += 1;
          index += 1;
        }
      }
    } else {
      out[length] = byte;
      length += 1;
      index += 1;
    }
  }
  return length;
}

const SPELLINGS = [
  String.raw`\u001b`,
  String.raw`\u001B`,
  String.raw`\x1b`,
  String.raw`\x1B`,
  String.raw`\033`,
  String.raw`\e`,
  '#033',
].map((text) => Uint8Array.from(Buffer.from(text)));

/** Where the text of an ESC begins that ends before the bracket at `bracket`; -1 where none does. */
export function escapeTextBefore(bytes: Bytes, start: number, bracket: number): number {
  for (const text of SPELLINGS) {
    const from = bracket - text.length;
    if (from >= start && text.every((byte, index) => bytes[from + index] === byte)) return from;
  }
  return -1;
}

/** The end of a control sequence from its bracket on, which a letter has to close; -1 where it does not. */
export function escapeTextEnd(bytes: Bytes, bracket: number, end: number): number {
  const index = skipWhile(bytes, bracket + 1, end, 0x30, 0x3f);
  return index < end && isIn((bytes[index] as number) | 0x20, 0x61, 0x7a) ? index + 1 : -1;
}

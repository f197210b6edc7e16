/**
 * Where atoms with characters outside ASCII are divided (`characters.ts` has the kinds): at blanks and at the signs of clauses, and between
 * text that stays and the words, names and numbers inside it.
 */
import { BACKSLASH, CLASSES, COLON, DIGIT, HARD, isDigit, isLetter } from './byte-classes.ts';
import { BREAK, LETTER, MARK, TEXT, WIDE_DIGIT, codeAt, digitValue, kindOf, sizeOf } from './characters.ts';
import { isControl } from './escapes.ts';
import { bracketEnd } from './ipv6.ts';

type Bytes = Uint8Array;
const [DOT, SLASH, BRACKET, AT, TILDE] = [0x2e, 0x2f, 0x5b, 0x40, 0x7e] as const;

/** The character that was read last: where it ends, and its kind. */
const read = { kind: LETTER, end: 0, code: 0 };

function readAt(bytes: Bytes, index: number, to: number): number {
  const byte = bytes[index] as number;
  read.code = byte < 0x80 ? byte : codeAt(bytes, index, to);
  read.kind = byte < 0x80 ? LETTER : kindOf(read.code);
  read.end = index + sizeOf(read.code);
  return read.kind;
}

/** Whether an escape sequence begins there in its 8-bit form. */
export function hasControl(bytes: Bytes, from: number, to: number): boolean {
  for (let index = from; index < to; index += 1) if (isControl(bytes, index, to)) return true;
  return false;
}

/** The first character from `from` on that ends a piece, or `to`. */
export function breakAt(bytes: Bytes, from: number, to: number): number {
  for (let index = from; index < to; index = read.end) if (readAt(bytes, index, to) === BREAK) return index;
  return to;
}

/** The first character from `from` on that begins a piece, or `to`. */
export function pieceAt(bytes: Bytes, from: number, to: number): number {
  for (let index = from; index < to; index = read.end) {
    const kind = readAt(bytes, index, to);
    if (kind !== BREAK && kind !== MARK) return index;
  }
  return to;
}

/** Where the text ends that begins at `from`: at a letter, a digit, or a byte of ASCII. */
export function textEnd(bytes: Bytes, from: number, to: number): number {
  for (let index = from; index < to; index = read.end) {
    const kind = readAt(bytes, index, to);
    if (kind !== TEXT && (kind !== MARK || index === from)) return index;
  }
  return to;
}

export const hasText = (bytes: Bytes, from: number, to: number): boolean => wordEnd(bytes, from, to, false) < to;

/** Whether a path begins there. In the middle of text it begins with a name in ASCII: `/var`, not `read/write`. */
function isPathAt(bytes: Bytes, from: number, to: number, isFirst: boolean): boolean {
  let index = from;
  if (isFirst && bytes[index] === TILDE) index += 1;
  while (isFirst && bytes[index] === DOT) index += 1;
  const next = index + 1 < to ? (bytes[index + 1] as number) : 0;
  if (bytes[index] === SLASH) return isFirst || isLetter(next) || isDigit(next) || next === DOT;
  return isLetter(bytes[from] as number) && CLASSES[bytes[from + 1] as number] === COLON && from + 2 < to && bytes[from + 2] === BACKSLASH;
}

/** Whether text that follows this byte is part of the path or URL before it. */
const joinsText = (byte: number): boolean => byte >= 0x80 || (!isLetter(byte) && !isDigit(byte));

/** Where the word ends that begins at `from`: at text, which a path may have too. */
export function wordEnd(bytes: Bytes, from: number, to: number, isFirst: boolean): number {
  const isPath = isPathAt(bytes, from, to, isFirst);
  for (let index = from; index < to; index = read.end)
    if (readAt(bytes, index, to) === TEXT && !(isPath && joinsText(bytes[index - 1] as number))) return index;
  return to;
}

/** What the classes of the bytes have in common; of characters outside ASCII none. */
export function flagsOf(bytes: Bytes, from: number, to: number): number {
  let flags = 0;
  for (let index = from; index < to; index += 1) {
    const byte = bytes[index] as number;
    if (byte < 0x80) flags |= (CLASSES[byte] as number) & (HARD - 1);
  }
  return flags;
}

/** Signs of numbers outside ASCII, by what they are between two digits; a comma of thousands is left out. */
const BETWEEN_DIGITS = new Map<number, string>([
  ...([
    [0xff0e, '.'],
    [0xff1a, ':'],
    [0xff0f, '/'],
    [0xff0d, '-'],
    [0x66b, '.'],
    [0x66c, ''],
  ] as const),
]);
const PERCENTS = new Set([0xff05, 0x66a]);

/** Whether there is a digit outside ASCII, or one that a mark follows. */
export function hasWideDigit(bytes: Bytes, from: number, to: number): boolean {
  for (let index = from; index < to; index = read.end) {
    const wasDigit = index > from && isDigit(bytes[index - 1] as number);
    const kind = readAt(bytes, index, to);
    if (kind === WIDE_DIGIT || (kind === MARK && wasDigit)) return true;
  }
  return false;
}

/** The end of a word that ends at `from`, with the signs outside ASCII and the digits that follow its last digit, where that is none of ASCII's. */
export function numberEnd(bytes: Bytes, from: number, to: number): number {
  let end = from;
  while (end < to && isWideDigit(bytes, characterBefore(bytes, end), end)) {
    readAt(bytes, end, to);
    const after = read.end;
    if (PERCENTS.has(read.code)) return after;
    if (!BETWEEN_DIGITS.has(read.code) || after >= to || !isWideDigit(bytes, after, to)) return end;
    end = wordEnd(bytes, after, to, false);
  }
  return end;
}

const isWideDigit = (bytes: Bytes, index: number, to: number): boolean => readAt(bytes, index, to) === WIDE_DIGIT;

function characterBefore(bytes: Bytes, end: number): number {
  let index = end - 1;
  while (index > end - 4 && index > 0 && ((bytes[index] as number) & 0xc0) === 0x80) index -= 1;
  return index;
}

/** Copies a word with its digits and their signs in ASCII; returns its length. Never longer than the word. */
export function plainDigits(bytes: Bytes, from: number, to: number, out: Uint8Array): number {
  let length = 0;
  let isAfterDigit = false;
  for (let index = from; index < to;) {
    const kind = readAt(bytes, index, to);
    const { code, end } = read;
    const sign = isAfterDigit ? (BETWEEN_DIGITS.get(code) ?? (PERCENTS.has(code) ? '%' : undefined)) : undefined;
    if (kind === WIDE_DIGIT || sign !== undefined) {
      const byte = sign === undefined ? 0x30 + digitValue(code) : sign.charCodeAt(0);
      if (sign !== '') {
        out[length] = byte;
        length += 1;
      }
    } else if (kind !== MARK || !isAfterDigit) for (let at = index; at < end; at += 1, length += 1) out[length] = bytes[at] as number;
    isAfterDigit = kind === WIDE_DIGIT || isDigit(code) || (kind === MARK && isAfterDigit);
    index = end;
  }
  return length;
}

/** Where a URL ends whose first bytes, all ASCII, end at `index`: an address in brackets, and text behind a sign, are part of it. */
export function urlEnd(bytes: Bytes, index: number, end: number, ends: Uint8Array): number {
  let at = index;
  while (at < end) {
    const byte = bytes[at] as number;
    const last = bytes[at - 1] as number;
    if (byte === BRACKET && (last === SLASH || last === AT)) {
      const after = bracketEnd(bytes, at, end);
      if (after < 0) return at;
      at = after;
    } else if (byte < 0x80) {
      if (ends[byte] !== 0) return at;
      at += 1;
    } else {
      const kind = readAt(bytes, at, end);
      if (kind === BREAK || (kind === TEXT && !joinsText(last))) return at;
      at = read.end;
    }
  }
  return at;
}

/** Whether the byte may be part of a URL's scheme. */
export const isScheme = (byte: number): boolean =>
  isLetter(byte) || CLASSES[byte] === DIGIT || byte === 0x2b || byte === 0x2d || byte === DOT;

/**
 * What characters outside ASCII are to the masks. Words of most alphabets stand between blanks and are read as ASCII words are; what is
 * written without blanks, or puts its affixes next to a number, is text that stays, and numbers and names in ASCII are found inside it.
 */

/** A letter of an alphabet whose words stand by themselves, or a byte that is no UTF-8. */
export const LETTER = 0;
/** Text that stays: letters of any other script, signs, pictures. */
export const TEXT = 1;
/** A decimal digit. */
export const WIDE_DIGIT = 2;
/** It belongs to the character before it, whatever that is. */
export const MARK = 3;
/** A blank, or a sign that ends a clause or encloses one. */
export const BREAK = 4;

/** Where the decimal digits of a script begin with its zero (Unicode 17, `Nd`). */
const ZEROS: readonly number[] = [
  ...[0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0, 0xf20, 0x1040, 0x1090],
  ...[0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50],
  ...[0xabf0, 0xff10, 0x104a0, 0x10d30, 0x10d40, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650, 0x116c0],
  ...[0x116d0, 0x116da, 0x11730, 0x118e0, 0x11950, 0x11bf0, 0x11c50, 0x11d50, 0x11da0, 0x11de0, 0x11f50, 0x16130, 0x16a60, 0x16ac0],
  ...[0x16b50, 0x16d70, 0x1ccf0, 0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e4f0, 0x1e5f1, 0x1e950, 0x1fbf0],
];

type Range = readonly [from: number, to: number];
/** Latin, Greek, Cyrillic, Armenian and Georgian letters with what is written above them; U+FFFD stands for a byte of any. */
const LETTERS: readonly Range[] = [
  ...([[0xaa], [0xb5], [0xba], [0xc0, 0xd6], [0xd8, 0xf6], [0xf8, 0x2ff], [0x370, 0x373], [0x376, 0x37d], [0x37f, 0x386]] as const),
  ...([
    [0x388, 0x481],
    [0x48a, 0x559],
    [0x560, 0x588],
    [0x10a0, 0x10fa],
    [0x10fc, 0x10ff],
    [0x1c80, 0x1cbf],
    [0x1d00, 0x1dbf],
  ] as const),
  ...([[0x1e00, 0x1fff], [0x2126], [0x212a, 0x212b], [0x2c60, 0x2c7f], [0x2d00, 0x2d2d], [0xa640, 0xa66e], [0xa680, 0xa69d]] as const),
  ...([[0xa722, 0xa7ff], [0xab30, 0xab69], [0xfb00, 0xfb17], [0xfffd]] as const),
].map(([from, to = from]: readonly [number, number?]) => [from, to]);

/** Accents, joiners, selectors of a picture's looks, and signs of direction. */
const MARKS: readonly Range[] = [
  ...([[0xad], [0x300, 0x36f], [0x483, 0x489], [0x200b, 0x200f], [0x202a, 0x202e], [0x2060, 0x206f], [0x1ab0, 0x1aff]] as const),
  ...([
    [0x1dc0, 0x1dff],
    [0x20d0, 0x20ff],
    [0x2de0, 0x2dff],
    [0xa66f, 0xa67d],
    [0xa69e, 0xa69f],
    [0xfe00, 0xfe0f],
  ] as const),
  ...([
    [0xfe20, 0xfe2f],
    [0x1f3fb, 0x1f3ff],
    [0xe0000, 0xe01ef],
  ] as const),
].map(([from, to = from]: readonly [number, number?]) => [from, to]);

/** Controls, blanks, commas, stops and brackets. */
const BREAKS: readonly Range[] = [
  ...([[0x80, 0xa0], [0x60c], [0x61b], [0x61f], [0x6d4], [0x964, 0x965], [0x1680], [0x2000, 0x200a], [0x2028, 0x2029]] as const),
  ...([[0x202f], [0x205f], [0x3000, 0x3002], [0x3008, 0x3011], [0x3014, 0x301b], [0xff01], [0xff08, 0xff09], [0xff0c]] as const),
  ...([[0xff1b], [0xff1f], [0xff3b], [0xff3d], [0xff5b], [0xff5d], [0xff5f, 0xff64]] as const),
].map(([from, to = from]: readonly [number, number?]) => [from, to]);

const HIGHEST = 0x20000;

function kinds(): Uint8Array {
  const table = new Uint8Array(HIGHEST).fill(TEXT);
  for (const [ranges, kind] of [[LETTERS, LETTER] as const, [MARKS, MARK] as const, [BREAKS, BREAK] as const])
    for (const [from, to] of ranges) table.fill(kind, from, Math.min(to + 1, HIGHEST));
  for (const zero of ZEROS) table.fill(WIDE_DIGIT, zero, zero + 10);
  return table;
}

const KINDS = kinds();
const zeroOf = (code: number): number => ZEROS.findLast((zero) => zero <= code) as number;

/** What a character is; -1 stands for a byte that is no UTF-8. */
export function kindOf(code: number): number {
  if (code < 0) return LETTER;
  if (code >= HIGHEST) return code >= 0xe0000 && code <= 0xe01ef ? MARK : TEXT;
  return KINDS[code] as number;
}

/** The value of a decimal digit. */
export const digitValue = (code: number): number => code - zeroOf(code);

const follows = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** The character that begins at `index`, above ASCII; -1 where the bytes there are no UTF-8. */
export function codeAt(bytes: Uint8Array, index: number, end: number): number {
  const first = bytes[index] as number;
  const size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (first < 0xc2 || first > 0xf4 || index + size > end) return -1;
  let code = first & (0xff >> (size + 1));
  for (let at = index + 1; at < index + size; at += 1) {
    const byte = bytes[at] as number;
    if (!follows(byte)) return -1;
    code = (code << 6) | (byte & 0x3f);
  }
  if (size === 3 && (code < 0x800 || (code >= 0xd800 && code <= 0xdfff))) return -1;
  return size === 4 && (code < 0x10000 || code > 0x10ffff) ? -1 : code;
}

/** How many bytes a character takes; one that is no UTF-8. */
export const sizeOf = (code: number): number => (code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4);

/** How many characters there are: bytes but those that continue one. */
export function countCharacters(bytes: Uint8Array, from: number, to: number): number {
  let count = 0;
  for (let index = from; index < to; index += 1) if (!follows(bytes[index])) count += 1;
  return count;
}

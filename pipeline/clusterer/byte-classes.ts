/**
 * What each byte of a message is to the masks. A message is made of blanks, of single hard bytes (brackets, quotes, commas …), and of
 * atoms: runs of anything else. The bits below `HARD` mark atoms that need a look; a byte that has none is a letter, or as good as one.
 */
export { BACKSLASH, COMMA, SPACE } from '../wire/bytes.ts';

export const DIGIT = 1;
const DOT = 2;
const SLASH = 4;
export const COLON = 8;
/** A byte of a character outside ASCII. */
export const WIDE = 16;
/** Signs that are trimmed from an atom's ends. */
const SIGN = 32;
export const HARD = 64;
export const BLANK = 128;

function classes(): Uint8Array {
  const table = new Uint8Array(256);
  const set = (characters: string, kind: number): void => {
    for (const byte of Buffer.from(characters)) table[byte] = kind;
  };
  table.fill(BLANK, 0, 0x21);
  table.fill(WIDE, 0x80);
  set('\x7f', BLANK);
  set('0123456789', DIGIT);
  set('.', DOT);
  set('/\\', SLASH);
  set(':', COLON);
  set('@#*~&?!%+$-', SIGN);
  set(',;()[]{}"\'<>|=`', HARD);
  return table;
}

export const CLASSES: Uint8Array = classes();

/** 1 for the signs that are trimmed before an atom, 2 for those after it. */
export const TRIMMED: Uint8Array = new Uint8Array(256);
for (const byte of Buffer.from('#@*~&:?!%+$')) TRIMMED[byte] = (TRIMMED[byte] as number) | 1;
for (const byte of Buffer.from('.:!?%*&#@~+-')) TRIMMED[byte] = (TRIMMED[byte] as number) | 2;

export const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39;
/** ASCII letters. */
export const isLetter = (byte: number): boolean => (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;
export const isHex = (byte: number): boolean => isDigit(byte) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66);

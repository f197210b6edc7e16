import { BACKSLASH, BLANK, CLASSES, COLON, COMMA, DIGIT, HARD, SPACE, TRIMMED, WIDE, isHex, isLetter } from './byte-classes.ts';
import { endOfPart, isLetterId, numberType, partType, wholeType } from './atom-types.ts';
import { C1, ESCAPE, escapeTextBefore, escapeTextEnd, isControl, withoutEscapes } from './escapes.ts';
import { mayBeAddress, putAddress } from './address-atoms.ts';
import { ANY, ID, NONE, URL } from './placeholders.ts';
import { TemplateText } from './template-text.ts';
import {
  breakAt,
  flagsOf,
  hasControl,
  hasText,
  hasWideDigit,
  isScheme,
  numberEnd,
  pieceAt,
  plainDigits,
  textEnd,
  urlEnd,
  wordEnd,
} from './wide-atoms.ts';
import { MAX_MESSAGE, NO_VALUES, TEXT_KEYS, isLong, wholeCharacters } from './words.ts';
import { WordSet } from './word-set.ts';

/** The version of the masks and of the layouts of headers: another one gives other fingerprints. */
export const MASK_VERSION = 3;

const [TAB, NEWLINE, QUOTE, SLASH] = [0x09, 0x0a, 0x22, 0x2f] as const;
const [COLON_SIGN, SEMICOLON, LESS, EQUALS, GREATER] = [0x3a, 0x3b, 0x3c, 0x3d, 0x3e] as const;
const [PARENTHESIS, PARENTHESIS_END, BRACKET, BRACE] = [0x28, 0x29, 0x5b, 0x7b] as const;

const noValues = new WordSet(NO_VALUES);
const textKeys = new WordSet(TEXT_KEYS);
const isNotLetter = (byte: number): boolean => !isLetter(byte);

/** 1 for what ends a URL, 2 for what may. */
const URL_END = new Uint8Array(256).fill(1, 0, 0x21).fill(2, 0x80);
for (const byte of Buffer.from('\x7f"\'<>()]{}`')) URL_END[byte] = 1;
URL_END[BRACKET] = 2;
/** 1 for what is looked at in a quoted value. */
const QUOTED_STOP = new Uint8Array(256);
for (const byte of [QUOTE, BACKSLASH, NEWLINE, ESCAPE, C1]) QUOTED_STOP[byte] = 1;
const isUrlTrail = (byte: number): boolean => ((TRIMMED[byte] as number) & 2) !== 0 || byte === COMMA || byte === SEMICOLON;

/**
 * Makes a message's template: the message with what changes from one to the next masked (docs/patterns.md has the rules). One pass
 * over the bytes, which are copied as they come and taken back where they turn out to be a value. It gives what the table of regular
 * expressions in `test/pipeline/clusterer/mask-table.ts` gives.
 */
export class Masker {
  readonly #text = new TemplateText();
  /** The template lies in `out[0, length)` until the next call. */
  readonly out: Uint8Array = this.#text.out;
  readonly #folded = Buffer.alloc(MAX_MESSAGE);
  #isFolded = false;
  /** A word with its digits in ASCII. */
  readonly #plain = Buffer.alloc(MAX_MESSAGE);
  #isBlankDue = false;
  /** Where the value of a `key=` begins. */
  #valueAt = -1;
  #from = 0;

  /** The template of `bytes[from, to)`: its length in `out`. */
  mask(bytes: Uint8Array, from: number, to: number): number {
    const end = to - from > MAX_MESSAGE ? wholeCharacters(bytes, from + MAX_MESSAGE) : to;
    this.#isFolded = false;
    if (!this.#run(bytes, from, end)) {
      const length = this.#fold(bytes, from, end);
      this.#isFolded = true;
      this.#run(this.#folded, 0, length);
    }
    return this.#text.end();
  }

  /** The message without escape sequences and without its indented lines: frames of a stack, and the like. */
  #fold(bytes: Uint8Array, from: number, end: number): number {
    const folded = this.#folded;
    const most = withoutEscapes(bytes, from, end, folded);
    let length = 0;
    for (let index = 0; index < most; index += 1) {
      folded[length] = folded[index] as number;
      length += 1;
      if (isIndented(folded, index, most)) while (index + 1 < most && folded[index + 1] !== NEWLINE) index += 1;
    }
    return length;
  }

  /** Whether what begins there has to be folded first: an indented line, or an escape sequence. */
  #isToFold(bytes: Uint8Array, index: number, end: number): boolean {
    if (this.#isFolded || index >= end) return false;
    return bytes[index] === ESCAPE || isIndented(bytes, index, end) || isControl(bytes, index, end);
  }

  /** False where something comes that has to be folded first. */
  #run(bytes: Uint8Array, from: number, end: number): boolean {
    const text = this.#text;
    text.clear();
    this.#isBlankDue = false;
    this.#valueAt = -1;
    this.#from = from;
    let index = from;
    while (index < end && !text.isFull) {
      const byte = bytes[index] as number;
      const kind = CLASSES[byte] as number;
      if (kind === BLANK) {
        if ((byte === NEWLINE || byte === ESCAPE) && this.#isToFold(bytes, index, end)) return false;
        this.#isBlankDue = true;
        index += 1;
      } else {
        index = kind === HARD ? this.#hard(bytes, index, end) : this.#atom(bytes, index, end);
        if (index < 0) return false;
      }
    }
    return true;
  }

  #blank(): void {
    if (!this.#isBlankDue) return;
    this.#isBlankDue = false;
    if (this.#text.length > 0) this.#text.byte(SPACE);
  }

  /** One hard byte, or a quoted value; the index after it, -1 where something has to be folded. */
  #hard(bytes: Uint8Array, index: number, end: number): number {
    const byte = bytes[index] as number;
    const before = index > this.#from ? (bytes[index - 1] as number) : -1;
    if (byte === QUOTE && before >= 0) {
      const after = this.#quoted(bytes, index, end);
      if (after !== index) return after;
    } else if (byte === EQUALS) {
      if (before >= 0 && (CLASSES[before] as number) < HARD) this.#valueAt = index + 1;
    } else if ((byte === LESS || byte === GREATER) && this.#isSign(bytes, index, end, before)) return index + 1;
    this.#blank();
    this.#text.byte(byte);
    return index + 1;
  }

  /** Whether a `<` or `>` belongs to the number behind it, as in `<1 sec`. */
  #isSign(bytes: Uint8Array, index: number, end: number, before: number): boolean {
    if (before >= 0 && CLASSES[before] !== BLANK) return false;
    if (index + 1 >= end || CLASSES[bytes[index + 1] as number] !== DIGIT) return false;
    let at = index + 2;
    while (at < end && (CLASSES[bytes[at] as number] as number) < HARD) at += 1;
    return at >= end || bytes[at] !== GREATER;
  }

  /** The index after the quoted value of a key that begins here, which is masked; the same index where none does. */
  #quoted(bytes: Uint8Array, index: number, end: number): number {
    let keyEnd = index - 1;
    if (bytes[keyEnd] === EQUALS) {
      if (keyEnd === this.#from || (CLASSES[bytes[keyEnd - 1] as number] as number) >= HARD) return index;
    } else {
      if (CLASSES[bytes[keyEnd] as number] === BLANK) keyEnd -= 1;
      if (keyEnd <= this.#from || bytes[keyEnd] !== COLON_SIGN || bytes[keyEnd - 1] !== QUOTE) return index;
      keyEnd -= 1;
    }
    if (textKeys.startBefore(bytes, this.#from, keyEnd, isNotLetter) >= 0) return index;
    for (let at = index + 1; at < end; at += 1) {
      if (QUOTED_STOP[bytes[at] as number] === 0) continue;
      const isEscape = bytes[at] === BACKSLASH;
      if (isEscape) at += 1;
      if (this.#isToFold(bytes, at, end)) return -1;
      if (isEscape || bytes[at] !== QUOTE) continue;
      this.#blank();
      this.#text.byte(QUOTE);
      this.#text.put(ANY);
      this.#text.byte(QUOTE);
      return at + 1;
    }
    return index;
  }

  /** One atom: copied, and masked where it is a value; the index after it, -1 where something has to be folded. */
  #atom(bytes: Uint8Array, start: number, end: number): number {
    this.#blank();
    const text = this.#text;
    const { out } = text;
    const at = text.length;
    const isPath = bytes[start] === SLASH;
    let length = at;
    let flags = 0;
    let index = start;
    for (; index < end; index += 1) {
      const byte = bytes[index] as number;
      const kind = CLASSES[byte] as number;
      if (kind >= HARD && !(isPath && byte === EQUALS)) break;
      if (kind === COLON && index > start && index + 2 < end && bytes[index + 1] === SLASH && bytes[index + 2] === SLASH)
        return this.#url(bytes, start, index, end, at, flags);
      flags |= kind;
      out[length] = byte;
      length += 1;
    }
    text.length = length;
    if (flags === 0) this.#letters(bytes, start, index, end, at);
    else return this.#odd(bytes, start, index, end, at, flags);
    return index;
  }

  /** The index after an escape sequence whose ESC is written as text before the bracket at `index`; the same index where none is. */
  #escapeText(bytes: Uint8Array, start: number, index: number, end: number, at: number): number {
    const cut = escapeTextBefore(bytes, start, index);
    const after = cut < 0 ? -1 : escapeTextEnd(bytes, index, end);
    if (after < 0) return index;
    this.#text.length = at;
    if (cut > start) return this.#atom(bytes, start, cut) < 0 ? -1 : after;
    if (at > 0 && this.#text.out[at - 1] === SPACE) {
      this.#text.length = at - 1;
      this.#isBlankDue = true;
    }
    return after;
  }

  /** A URL whose `://` is at `colon`, in an atom whose bytes before it have these classes; the index after it, or -1. */
  #url(bytes: Uint8Array, start: number, colon: number, end: number, at: number, flags: number): number {
    if ((flags & WIDE) !== 0) return this.#wideUrl(bytes, start, colon, end, at);
    let index = colon + 3;
    while (index < end && URL_END[bytes[index] as number] === 0) index += 1;
    if (index < end && URL_END[bytes[index] as number] === 2) index = urlEnd(bytes, index, end, URL_END);
    let trail = index;
    while (isUrlTrail(bytes[trail - 1] as number)) trail -= 1;
    this.#text.replace(at, URL);
    this.#text.copy(bytes, trail, index);
    return index;
  }

  /** A URL in an atom whose `://` is at `colon` and which has other characters than ASCII: text before the scheme stays. */
  #wideUrl(bytes: Uint8Array, start: number, colon: number, end: number, at: number): number {
    if (!this.#isFolded && hasControl(bytes, start, colon)) return -1;
    let scheme = colon;
    while (scheme > start && isScheme(bytes[scheme - 1] as number)) scheme -= 1;
    this.#text.length = at;
    if (hasText(bytes, start, scheme)) this.#wide(bytes, start, scheme, end, at);
    return this.#url(bytes, scheme, colon, end, this.#text.length, 0);
  }

  /** An atom with characters outside ASCII, piece by piece; the index after it, -1 where something has to be folded. */
  #wide(bytes: Uint8Array, start: number, index: number, end: number, at: number): number {
    if (!this.#isFolded && hasControl(bytes, start, index)) return -1;
    this.#text.length = at;
    for (let from = start; from < index;) {
      const to = breakAt(bytes, from, index);
      if (to > from) this.#piece(bytes, from, to, end);
      from = pieceAt(bytes, to, index);
      this.#text.copy(bytes, to, from);
    }
    return index;
  }

  /** A piece of such an atom: a value, or text with words and values inside. */
  #piece(bytes: Uint8Array, start: number, to: number, end: number): void {
    const text = this.#text;
    const at = text.length;
    if (start === this.#valueAt) {
      const hasDigit = (flagsOf(bytes, start, to) & DIGIT) !== 0;
      if (hasDigit ? !this.#isText(bytes, start) : this.#isValue(bytes, start, to, end)) {
        this.#word(bytes, start, to, end);
        return;
      }
    }
    let from = start;
    while (from < to) {
      const wordAt = textEnd(bytes, from, to);
      text.copy(bytes, from, wordAt);
      if (wordAt === to) break;
      from = wordEnd(bytes, wordAt, to, wordAt === start);
      if (hasWideDigit(bytes, wordAt, from)) {
        from = numberEnd(bytes, from, to);
        const length = plainDigits(bytes, wordAt, from, this.#plain);
        this.#word(this.#plain, 0, length, length);
      } else this.#word(bytes, wordAt, from, end);
    }
    if (text.hasMaskSince(at) || textEnd(bytes, start, to) === start) return;
    let bodyEnd = to;
    while (((TRIMMED[bytes[bodyEnd - 1] as number] as number) & 2) !== 0) bodyEnd -= 1;
    text.word(bytes, start, bodyEnd, to, at);
  }

  #word(bytes: Uint8Array, start: number, to: number, end: number): void {
    const at = this.#text.length;
    const flags = flagsOf(bytes, start, to);
    this.#text.copy(bytes, start, to);
    if (flags === 0) this.#letters(bytes, start, to, end, at);
    else this.#odd(bytes, start, to, end, at, flags);
  }

  /** An atom of letters alone, which has been copied. */
  #letters(bytes: Uint8Array, start: number, index: number, end: number, at: number): void {
    if (start === this.#valueAt && this.#isValue(bytes, start, index, end)) this.#text.replace(at, ANY);
    else if (index - start >= 32 && isLongId(bytes, start, index)) this.#text.replace(at, ID);
    else if (noValues.has(bytes, start, index)) this.#text.replace(at, ANY);
    else this.#text.word(bytes, start, index, index, at);
  }

  /** Whether the atom behind `key=` is masked whatever it is: not a name before a bracket, and not a message. */
  #isValue(bytes: Uint8Array, start: number, index: number, end: number): boolean {
    const next = index < end ? bytes[index] : -1;
    return next !== PARENTHESIS && next !== BRACKET && next !== BRACE && !this.#isText(bytes, start);
  }

  #isText(bytes: Uint8Array, start: number): boolean {
    return textKeys.startBefore(bytes, this.#from, start - 1, isNotLetter) >= 0;
  }

  /** An atom with a digit, a dot, a slash, a colon or a sign: its ends are trimmed, and it is read as a whole or part by part. */
  #odd(bytes: Uint8Array, start: number, index: number, end: number, at: number, flags: number): number {
    if (flags === DIGIT) {
      const isCall = isCallAt(bytes, index, end);
      const type = start === this.#valueAt && !this.#isText(bytes, start) ? ANY : numberType(bytes, start, index, isCall);
      if (type !== NONE) this.#text.replace(at, type);
      else this.#text.word(bytes, start, index, index, at);
      return index;
    }
    if ((flags & WIDE) !== 0 || bytes[index] === BRACKET) {
      const after = index < end && bytes[index] === BRACKET ? this.#escapeText(bytes, start, index, end, at) : index;
      if (after !== index) return after;
      if ((flags & WIDE) !== 0) return this.#wide(bytes, start, index, end, at);
    }
    let from = start;
    while (from < index && ((TRIMMED[bytes[from] as number] as number) & 1) !== 0) from += 1;
    let to = index;
    while (to > from && ((TRIMMED[bytes[to - 1] as number] as number) & 2) !== 0) to -= 1;
    let whole = NONE;
    if ((flags & COLON) !== 0) {
      whole = wholeType(bytes, from, to);
      if (
        (from > start || index - to > 1 || (whole === NONE && isHex(bytes[from] as number))) &&
        this.#address(bytes, start, from, index, end, at)
      )
        return index;
    }
    if (from === to) return index;
    if (whole === NONE && start === this.#valueAt) {
      const isValue = (flags & DIGIT) === 0 ? this.#isValue(bytes, start, index, end) : !this.#isText(bytes, start);
      if (isValue) whole = ANY;
    }
    this.#text.length = at + from - start;
    if (whole !== NONE) this.#text.put(whole);
    else if (!this.#parts(bytes, from, to, index, end)) {
      this.#text.copy(bytes, to, index);
      if (from === start) this.#text.word(bytes, start, to, index, at);
      return index;
    }
    this.#text.copy(bytes, to, index);
    return index;
  }

  #address(bytes: Uint8Array, start: number, from: number, index: number, messageEnd: number, at: number): boolean {
    if (!mayBeAddress(bytes, start, from, index)) return false;
    const isValue = start === this.#valueAt && !this.#isText(bytes, start);
    return putAddress(this.#text, bytes, { messageFrom: this.#from, messageEnd, start, from, end: index, at, isValue });
  }

  /** The parts of an atom between colons and between rows of dots, each masked by itself; `<HOST>:<N>` becomes one. Whether any was masked. */
  #parts(bytes: Uint8Array, from: number, to: number, index: number, end: number): boolean {
    const text = this.#text;
    const isCall = to === index && isCallAt(bytes, index, end);
    let maskEnd = -1;
    let at = from;
    for (;;) {
      const partEnd = endOfPart(bytes, at, to);
      const type = partEnd === at ? NONE : partType(bytes, at, partEnd, isCall && partEnd === to);
      if (type === NONE) text.copy(bytes, at, partEnd);
      else {
        if (maskEnd >= 0 && text.length === maskEnd + 1 && text.out[maskEnd] === COLON_SIGN) text.length = maskEnd;
        else text.put(type);
        maskEnd = text.length;
      }
      if (partEnd >= to) return maskEnd >= 0;
      at = partEnd;
      while (at < to && bytes[at] === bytes[partEnd]) at += 1;
      text.copy(bytes, partEnd, at);
    }
  }
}

/** Whether the byte is a line break with an indented line behind it. */
function isIndented(bytes: Uint8Array, index: number, end: number): boolean {
  return index + 1 < end && bytes[index] === NEWLINE && (bytes[index + 1] === SPACE || bytes[index + 1] === TAB);
}

/** Whether `()` stands there, as it does behind a function's name. */
function isCallAt(bytes: Uint8Array, index: number, end: number): boolean {
  return index + 1 < end && bytes[index] === PARENTHESIS && bytes[index + 1] === PARENTHESIS_END;
}

function isLongId(bytes: Uint8Array, start: number, end: number): boolean {
  return isLetterId(bytes, start, end) || isLong(bytes, start, end);
}

import { BACKSLASH, BLANK, CLASSES, COLON, COMMA, DIGIT, HARD, SPACE, TRIMMED, isLetter } from './byte-classes.ts';
import { nameType, numberType, wholeType } from './atom-types.ts';
import { ANY, ID, NONE, URL } from './placeholders.ts';
import { TemplateText } from './template-text.ts';
import { LONGEST_WORD, MAX_MESSAGE, NO_VALUES, TEXT_KEYS, wholeCharacters } from './words.ts';
import { WordSet } from './word-set.ts';

/** The version of the masks and of the layouts of headers: another one gives other fingerprints. */
export const MASK_VERSION = 2;

const [TAB, NEWLINE, QUOTE, DOT, SLASH] = [0x09, 0x0a, 0x22, 0x2e, 0x2f] as const;
const [COLON_SIGN, SEMICOLON, LESS, EQUALS, GREATER] = [0x3a, 0x3b, 0x3c, 0x3d, 0x3e] as const;
const [PARENTHESIS, PARENTHESIS_END, BRACKET, BRACE] = [0x28, 0x29, 0x5b, 0x7b] as const;

const noValues = new WordSet(NO_VALUES);
const textKeys = new WordSet(TEXT_KEYS);
const isNoLetter = (byte: number): boolean => !isLetter(byte);

/** 1 for what ends a URL. */
const URL_END = new Uint8Array(256).fill(1, 0, 0x21);
for (const byte of Buffer.from('\x7f"\'<>()[]{}`')) URL_END[byte] = 1;
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
  #isBlankDue = false;
  /** Where the value of a `key=` begins. */
  #valueAt = -1;
  #from = 0;

  /** The template of `bytes[from, to)`: its length in `out`. */
  mask(bytes: Uint8Array, from: number, to: number): number {
    const end = to - from > MAX_MESSAGE ? wholeCharacters(bytes, from + MAX_MESSAGE) : to;
    if (!this.#run(bytes, from, end)) this.#run(this.#folded, 0, this.#fold(bytes, from, end));
    return this.#text.end();
  }

  /** The message without its indented lines: frames of a stack, and the like. */
  #fold(bytes: Uint8Array, from: number, end: number): number {
    let length = 0;
    for (let index = from; index < end; index += 1) {
      this.#folded[length] = bytes[index] as number;
      length += 1;
      if (isIndented(bytes, index, end)) while (index + 1 < end && bytes[index + 1] !== NEWLINE) index += 1;
    }
    return length;
  }

  /** False where an indented line comes, which has to be folded first. */
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
        if (byte === NEWLINE && isIndented(bytes, index, end)) return false;
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

  /** One hard byte, or a quoted value; the index after it, -1 where an indented line comes. */
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
    if (textKeys.startBefore(bytes, this.#from, keyEnd, isNoLetter) >= 0) return index;
    for (let at = index + 1; at < end; at += 1) {
      const isEscape = bytes[at] === BACKSLASH;
      if (isEscape) at += 1;
      if (isIndented(bytes, at, end)) return -1;
      if (isEscape || bytes[at] !== QUOTE) continue;
      this.#blank();
      this.#text.byte(QUOTE);
      this.#text.put(ANY);
      this.#text.byte(QUOTE);
      return at + 1;
    }
    return index;
  }

  /** One atom: copied, and masked where it is a value; the index after it. */
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
        return this.#url(bytes, index + 3, end, at);
      flags |= kind;
      out[length] = byte;
      length += 1;
    }
    text.length = length;
    if (flags === 0) this.#letters(bytes, start, index, end, at);
    else this.#odd(bytes, start, index, end, at, flags);
    return index;
  }

  #url(bytes: Uint8Array, from: number, end: number, at: number): number {
    let index = from;
    while (index < end && URL_END[bytes[index] as number] === 0) index += 1;
    let trail = index;
    while (isUrlTrail(bytes[trail - 1] as number)) trail -= 1;
    this.#text.replace(at, URL);
    this.#text.copy(bytes, trail, index);
    return index;
  }

  /** An atom of letters alone, which has been copied. */
  #letters(bytes: Uint8Array, start: number, index: number, end: number, at: number): void {
    if (start === this.#valueAt && this.#isValue(bytes, start, index, end)) this.#text.replace(at, ANY);
    else if (index - start > LONGEST_WORD) this.#text.replace(at, ID);
    else if (noValues.has(bytes, start, index)) this.#text.replace(at, ANY);
    else this.#text.word(bytes, start, index, index, at);
  }

  /** Whether the atom behind `key=` is masked whatever it is: not a name before a bracket, and not a message. */
  #isValue(bytes: Uint8Array, start: number, index: number, end: number): boolean {
    const next = index < end ? bytes[index] : -1;
    return next !== PARENTHESIS && next !== BRACKET && next !== BRACE && !this.#isText(bytes, start);
  }

  #isText(bytes: Uint8Array, start: number): boolean {
    return textKeys.startBefore(bytes, this.#from, start - 1, isNoLetter) >= 0;
  }

  /** An atom with a digit, a dot, a slash, a colon or a sign: its ends are trimmed, and it is read as a whole or part by part. */
  #odd(bytes: Uint8Array, start: number, index: number, end: number, at: number, flags: number): void {
    if (flags === DIGIT) {
      const isCall = isCallAt(bytes, index, end);
      const type = start === this.#valueAt && !this.#isText(bytes, start) ? ANY : numberType(bytes, start, index, isCall);
      if (type !== NONE) this.#text.replace(at, type);
      else this.#text.word(bytes, start, index, index, at);
      return;
    }
    let from = start;
    while (from < index && ((TRIMMED[bytes[from] as number] as number) & 1) !== 0) from += 1;
    let to = index;
    while (to > from && ((TRIMMED[bytes[to - 1] as number] as number) & 2) !== 0) to -= 1;
    if (from === to) return;
    let whole = (flags & COLON) === 0 ? NONE : wholeType(bytes, from, to);
    if (whole === NONE && start === this.#valueAt) {
      const isValue = (flags & DIGIT) === 0 ? this.#isValue(bytes, start, index, end) : !this.#isText(bytes, start);
      if (isValue) whole = ANY;
    }
    this.#text.length = at + from - start;
    if (whole !== NONE) this.#text.put(whole);
    else if (!this.#parts(bytes, from, to, index, end)) {
      this.#text.copy(bytes, to, index);
      if (from === start) this.#text.word(bytes, start, to, index, at);
      return;
    }
    this.#text.copy(bytes, to, index);
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

function endOfPart(bytes: Uint8Array, from: number, to: number): number {
  for (let index = from; index < to; index += 1) {
    const byte = bytes[index];
    if (byte === COLON_SIGN || (byte === DOT && index + 1 < to && bytes[index + 1] === DOT)) return index;
  }
  return to;
}

function partType(bytes: Uint8Array, start: number, end: number, isCall: boolean): number {
  for (let index = start; index < end; index += 1)
    if (CLASSES[bytes[index] as number] === DIGIT) return numberType(bytes, start, end, isCall);
  return nameType(bytes, start, end);
}

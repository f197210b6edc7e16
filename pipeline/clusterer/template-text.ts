import { CLASSES, COMMA, DIGIT, HARD, SPACE, isLetter } from './byte-classes.ts';
import { TEXT, codeAt, kindOf } from './characters.ts';
import { ANY, ID, N, NONE, PATH, PLACEHOLDERS, TS, URL, YEAR } from './placeholders.ts';
import { BEFORE_ADDRESS, BEFORE_USER, MAX_MESSAGE, MAX_TEXT, MONTHS_AND_DAYS, UNITS, ZONES, wholeCharacters } from './words.ts';
import { WordSet } from './word-set.ts';

const units = new WordSet(UNITS);
const zones = new WordSet(ZONES);
const namesOfTime = new WordSet(MONTHS_AND_DAYS);
const beforeUser = new WordSet(BEFORE_USER);
const beforeAddress = new WordSet(BEFORE_ADDRESS);
const user = new WordSet(['user']);
const unknown = Buffer.from('unknown');
const http = Buffer.from('HTTP/');

const PLACEHOLDER_BYTES = PLACEHOLDERS.map((text) => Uint8Array.from(Buffer.from(text)));
const DOT = 0x2e;
const COLON = 0x3a;
const BRACKET = 0x5b;
const UNDERSCORE = 0x5f;

/** A template is not written further than this: nothing behind it changes its first `MAX_TEXT` bytes. */
const ENOUGH = MAX_TEXT + 128;

const isEdge = (byte: number): boolean => byte === SPACE || CLASSES[byte] === HARD;

/**
 * A template as it is written: bytes that stay, and placeholders, which join what is next to them where both are one thing: a time with
 * its date, a number with its unit, a path with the protocol of its request.
 */
export class TemplateText {
  /** Fits the longest template that a message can have: a placeholder takes at most four times the bytes that it stands for. */
  readonly out: Uint8Array = new Uint8Array(4 * MAX_MESSAGE + 256);
  /** How much of `out` is written. Code that copies a word sets it, and resets it to mask the word. */
  length = 0;
  /** Where the last placeholder ends, -1 where nothing may join it, and its type. */
  #lastEnd = -1;
  #lastType = NONE;
  /** Where the word `user` ends, after a word that announces a name. */
  #userEnd = -1;

  /** Begins a new one. */
  clear(): void {
    this.length = 0;
    this.#lastEnd = -1;
    this.#lastType = NONE;
    this.#userEnd = -1;
  }

  get isFull(): boolean {
    return this.length >= ENOUGH;
  }

  /** Ends it: its length, with at most `MAX_TEXT` bytes and no word cut. */
  end(): number {
    if (this.length <= MAX_TEXT) return this.length;
    const whole = wholeCharacters(this.out, MAX_TEXT);
    // text without blanks may be cut anywhere
    if ((this.out[whole] as number) >= 0x80 && kindOf(codeAt(this.out, whole, this.length)) === TEXT) return whole;
    const blank = this.out.lastIndexOf(SPACE, MAX_TEXT - 1);
    return blank > 0 ? blank : whole;
  }

  /** Whether a placeholder was written behind `at`. */
  hasMaskSince(at: number): boolean {
    return this.#lastEnd > at;
  }

  /** Whether an id in brackets alone ends at `at`. */
  hasIdInBrackets(at: number): boolean {
    return this.#lastType === ID && this.#lastEnd === at - 1 && this.out[at - 6] === BRACKET;
  }

  /** Whether a word that announces an address ends before the blank at the end, perhaps with a colon. */
  announcesAddress(at: number): boolean {
    if (at < 2 || this.out[at - 1] !== SPACE) return false;
    return beforeAddress.startBefore(this.out, 0, this.out[at - 2] === COLON ? at - 2 : at - 1, isEdge) >= 0;
  }

  byte(byte: number): void {
    this.out[this.length] = byte;
    this.length += 1;
  }

  copy(bytes: Uint8Array, from: number, to: number): void {
    const { out } = this;
    let { length } = this;
    for (let index = from; index < to; index += 1) {
      out[length] = bytes[index] as number;
      length += 1;
    }
    this.length = length;
  }

  /** Writes a placeholder at the end, or lets the one before it stand for both. */
  put(type: number): void {
    const { out } = this;
    let at = this.length;
    if (type === N || type === TS || type === YEAR)
      for (let names = 0; names < 2 && at > 3 && out[at - 1] === SPACE; names += 1) {
        const nameAt = namesOfTime.startBefore(out, 0, at - 1, isEdge);
        if (nameAt < 0) break;
        at = nameAt;
        type = TS;
      }
    if (this.#lastType === TS && this.#lastEnd >= 0 && at === this.#lastEnd + 1) {
      const gap = out[this.#lastEnd];
      if ((gap === SPACE && (type === TS || type === YEAR)) || (gap === COMMA && type === N)) {
        this.length = this.#lastEnd;
        return;
      }
    }
    const text = PLACEHOLDER_BYTES[type] as Uint8Array;
    for (let index = 0; index < text.length; index += 1) out[at + index] = text[index] as number;
    this.length = this.#lastEnd = at + text.length;
    this.#lastType = type;
  }

  /** Masks what was written from `at` on. */
  replace(at: number, type: number): void {
    this.length = at;
    this.put(type);
  }

  /**
   * A word that stays was written from `at` on: `bytes[start, bodyEnd)`, and signs up to `end`. It is taken back where it belongs to the
   * placeholder before it, and masked where it is a user's name.
   */
  word(bytes: Uint8Array, start: number, bodyEnd: number, end: number, at: number): void {
    if (at === 0 || this.out[at - 1] !== SPACE) return;
    if (this.#lastEnd === at - 1 && this.#belongs(bytes, start, bodyEnd)) {
      this.length = this.#lastEnd;
      if (this.#lastType !== TS) this.#lastEnd = -1;
      this.copy(bytes, bodyEnd, end);
    } else if (this.#userEnd === at - 1 && isName(bytes, start, bodyEnd)) {
      this.replace(at, ANY);
      this.copy(bytes, bodyEnd, end);
    } else if (bodyEnd === end && user.has(bytes, start, end) && beforeUser.startBefore(this.out, 0, at - 1, isEdge) >= 0) {
      this.#userEnd = this.length;
    }
  }

  /** Whether a word is the unit of the number, the zone of the time or the protocol of the request that stands before it. */
  #belongs(bytes: Uint8Array, start: number, end: number): boolean {
    const type = this.#lastType;
    if (type === N || type === YEAR) return units.has(bytes, start, end);
    if (type === TS) return zones.has(bytes, start, end);
    return (type === PATH || type === URL || type === ID || type === ANY) && isHttpVersion(bytes, start, end);
  }
}

function beginsWith(bytes: Uint8Array, start: number, word: Uint8Array): boolean {
  for (let index = 0; index < word.length; index += 1) if (bytes[start + index] !== word[index]) return false;
  return true;
}

/** `HTTP/1.1`, `HTTP/2`. */
function isHttpVersion(bytes: Uint8Array, start: number, end: number): boolean {
  const length = end - start;
  if ((length !== 6 && length !== 8) || !beginsWith(bytes, start, http) || CLASSES[bytes[start + 5] as number] !== DIGIT) return false;
  return length === 6 || (bytes[start + 6] === DOT && CLASSES[bytes[start + 7] as number] === DIGIT);
}

/** Whether the word after `user` is a name: it begins with a letter, and not as `unknown`. */
function isName(bytes: Uint8Array, start: number, end: number): boolean {
  const first = bytes[start] as number;
  return end > start && (isLetter(first) || first === UNDERSCORE || first >= 0x80) && !beginsWith(bytes, start, unknown);
}

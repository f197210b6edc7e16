/**
 * What an atom of a message is, or a part of one between colons: pure functions on its bytes, `bytes[start, end)`. Each returns what a row
 * of regular expressions returns, against which the tests compare it.
 */
import { BACKSLASH, isDigit, isHex, isLetter } from './byte-classes.ts';
import { ANY, HOST, ID, IP, N, NONE, PATH, TS, YEAR } from './placeholders.ts';
import { KEPT_WORDS, NO_VALUES, SOURCES, isLong } from './words.ts';
import { WordSet } from './word-set.ts';

const kept = new WordSet(KEPT_WORDS);
const noValues = new WordSet(NO_VALUES);
const sources = new WordSet(SOURCES);

const DOT = 0x2e;
const SLASH = 0x2f;
const COLON = 0x3a;
const AT = 0x40;
const UNDERSCORE = 0x5f;

type Bytes = Uint8Array;
const at = (bytes: Bytes, index: number): number => bytes[index] as number;

/** How many bytes from `start` are digits. */
function digits(bytes: Bytes, start: number, end: number): number {
  let index = start;
  while (index < end && isDigit(at(bytes, index))) index += 1;
  return index - start;
}

const isNamePart = (byte: number): boolean => isLetter(byte) || isDigit(byte) || byte === UNDERSCORE || byte === 0x2d;

/** `example.com:443`: labels of a name, a dot, letters in lower case that end no source file, and a port. */
function isHostWithPort(bytes: Bytes, start: number, end: number, colon: number): boolean {
  if (!isLetter(at(bytes, start)) || digits(bytes, colon + 1, end) !== end - colon - 1 || colon + 1 === end) return false;
  let label = start;
  for (let index = start; index < colon; index += 1) {
    const byte = at(bytes, index);
    if (byte === DOT) {
      if (index === label) return false;
      label = index + 1;
    } else if (!isNamePart(byte)) return false;
  }
  if (label === start || colon - label < 2 || sources.has(bytes, label, colon)) return false;
  for (let index = label; index < colon; index += 1) if (at(bytes, index) < 0x61 || at(bytes, index) > 0x7a) return false;
  return true;
}

/** `7:07`, `07:07:00`, `07:07:00.123`. */
function isTimeOfDay(bytes: Bytes, start: number, end: number, colon: number): boolean {
  if (digits(bytes, start, colon) !== colon - start || digits(bytes, colon + 1, end) !== 2) return false;
  let index = colon + 3;
  if (index < end && at(bytes, index) === COLON) {
    if (digits(bytes, index + 1, end) !== 2) return false;
    index += 3;
  }
  if (index < end && at(bytes, index) === DOT && index + 1 < end) index += 1 + digits(bytes, index + 1, end);
  return index === end && at(bytes, end - 1) !== DOT;
}

const isDateSign = (byte: number): boolean => byte === 0x2d || byte === SLASH;

/** `2024-05-06T07:08…`, also with slashes, digits alone or a colon in the place of the T. */
function isDateAndTime(bytes: Bytes, start: number, end: number): boolean {
  if (digits(bytes, start, end) !== 4) return false;
  let index = start + 4;
  for (let part = 0; part < 2; part += 1) {
    if (index >= end || !isDateSign(at(bytes, index))) return false;
    const count = digits(bytes, index + 1, end);
    if (count < 1 || count > 2) return false;
    index += 1 + count;
  }
  if (index >= end || (at(bytes, index) !== 0x54 && at(bytes, index) !== COLON)) return false;
  const hours = digits(bytes, index + 1, end);
  index += 1 + hours;
  return hours > 0 && index + 1 < end && at(bytes, index) === COLON && isDigit(at(bytes, index + 1));
}

/** Hexadecimal digits with two colons or more: a MAC or IPv6 address, or what looks like one. */
function isColonHex(bytes: Bytes, start: number, end: number): boolean {
  let colons = 0;
  let hasDigit = false;
  for (let index = start; index < end; index += 1) {
    const byte = at(bytes, index);
    if (byte === COLON) colons += 1;
    else if (isDigit(byte)) hasDigit = true;
    else if (!isHex(byte) && !(byte === DOT && colons > 1)) return false;
  }
  return colons > 1 && (hasDigit || isMac(bytes, start, end, colons));
}

/** Six pairs of letters, as a MAC address without digits has. */
function isMac(bytes: Bytes, start: number, end: number, colons: number): boolean {
  if (end - start !== 17 || colons !== 5) return false;
  for (let index = start + 2; index < end; index += 3) if (at(bytes, index) !== COLON) return false;
  return true;
}

/** The type of an atom that is one thing as a whole though it has a colon; `NONE` where it has none, or is read part by part. */
export function wholeType(bytes: Bytes, start: number, end: number): number {
  let colon = start;
  while (colon < end && at(bytes, colon) !== COLON) colon += 1;
  if (colon === end) return NONE;
  if (isHostWithPort(bytes, start, end, colon)) return HOST;
  if (colon === start + 1 && isLetter(at(bytes, start)) && colon + 1 < end && at(bytes, colon + 1) === BACKSLASH) return PATH;
  if (!isHex(at(bytes, start))) return NONE;
  if (isTimeOfDay(bytes, start, end, colon) || isDateAndTime(bytes, start, end)) return TS;
  return isColonHex(bytes, start, end) ? ID : NONE;
}

const EXCEPTION = Buffer.from('Exception');
const ERROR = Buffer.from('Error');

function endsWith(bytes: Bytes, start: number, end: number, word: Bytes): boolean {
  const from = end - word.length;
  if (from < start) return false;
  for (let index = 0; index < word.length; index += 1) if (bytes[from + index] !== word[index]) return false;
  return true;
}

/** Whether a slash, or a backslash, stands there twice, or a slash at the start before something. */
function isPath(bytes: Bytes, start: number, end: number, slashes: number, backslashes: number): boolean {
  if (slashes > 1 || backslashes > 1) return true;
  return slashes === 1 && at(bytes, start) === SLASH && end - start > 1;
}

/** The type of a part without a digit; `NONE` for a word, which stays. */
function nameType(bytes: Bytes, start: number, end: number): number {
  if (noValues.has(bytes, start, end)) return ANY;
  let [dots, slashes, backslashes, firstAt] = [0, 0, 0, -1];
  let [firstDot, lastDot] = [end, -1];
  for (let index = start; index < end; index += 1) {
    const byte = at(bytes, index);
    if (byte === DOT) {
      if (dots === 0) firstDot = index;
      dots += 1;
      lastDot = index;
    } else if (byte === SLASH) slashes += 1;
    else if (byte === BACKSLASH) backslashes += 1;
    else if (byte === AT && firstAt === -1) firstAt = index;
  }
  if (isPath(bytes, start, end, slashes, backslashes)) return PATH;
  if (slashes === 1 && at(bytes, start) === DOT && at(bytes, start + 1) === SLASH && end - start > 2) return PATH;
  if (dots > 0 && (endsWith(bytes, firstDot + 1, end, EXCEPTION) || endsWith(bytes, firstDot + 1, end, ERROR))) return NONE;
  if (dots > 1) return HOST;
  return (firstAt !== -1 && lastDot > firstAt) || isLetterId(bytes, start, end) || isLong(bytes, start, end) ? ID : NONE;
}

const SHORTEST_ID = 32;
const UUID = 36;
const isHyphenOfUuid = (index: number): boolean => index === 8 || index === 13 || index === 18 || index === 23;

/** Whether a word without a digit is an id in hexadecimal: 32 letters or more, or with a UUID at its end. */
export function isLetterId(bytes: Bytes, start: number, end: number): boolean {
  if (end - start < SHORTEST_ID) return false;
  let index = start;
  while (index < end && isHex(at(bytes, index))) index += 1;
  if (index === end) return true;
  const from = end - UUID;
  if (from < start || (from > start && isHex(at(bytes, from - 1)))) return false;
  for (index = 0; index < UUID; index += 1) {
    const byte = at(bytes, from + index);
    if (isHyphenOfUuid(index) ? byte !== 0x2d : !isHex(byte)) return false;
  }
  return true;
}

/** Digits and dots with a sign before and a unit of up to two letters behind: `-12.5`, `10ms`, `99%`. */
function isNumber(bytes: Bytes, start: number, end: number): boolean {
  let index = start;
  if (at(bytes, index) === 0x2d || at(bytes, index) === 0x2b) index += 1;
  const from = index;
  while (index < end && (isDigit(at(bytes, index)) || at(bytes, index) === DOT)) index += 1;
  if (index === from || end - index > 2) return false;
  for (; index < end; index += 1) if (!isLetter(at(bytes, index)) && at(bytes, index) !== 0x25) return false;
  return true;
}

/** Four numbers with dots between, also behind a slash. */
function isAddress(bytes: Bytes, start: number, end: number): boolean {
  let index = at(bytes, start) === SLASH ? start + 1 : start;
  for (let part = 0; part < 4; part += 1) {
    if (part > 0) {
      if (index >= end || at(bytes, index) !== DOT) return false;
      index += 1;
    }
    const count = digits(bytes, index, end);
    if (count === 0) return false;
    index += count;
  }
  return index === end;
}

const isYear = (bytes: Bytes, start: number, end: number): boolean =>
  end - start === 4 &&
  digits(bytes, start, end) === 4 &&
  ((at(bytes, start) === 0x31 && at(bytes, start + 1) === 0x39) || (at(bytes, start) === 0x32 && at(bytes, start + 1) === 0x30));

/** Whether it begins as `2024-05-06`, or as `6/May/2`. */
function isDate(bytes: Bytes, start: number, end: number): boolean {
  const count = digits(bytes, start, end);
  const next = start + count;
  if (count === 0 || next >= end) return false;
  if (at(bytes, next) === SLASH)
    return (
      next + 5 < end &&
      (at(bytes, next + 1) & 0xe0) === 0x40 &&
      isLetter(at(bytes, next + 1)) &&
      (at(bytes, next + 2) & 0xe0) === 0x60 &&
      isLetter(at(bytes, next + 2)) &&
      (at(bytes, next + 3) & 0xe0) === 0x60 &&
      isLetter(at(bytes, next + 3)) &&
      at(bytes, next + 4) === SLASH &&
      isDigit(at(bytes, next + 5))
    );
  if (count !== 4 || at(bytes, next) !== 0x2d || digits(bytes, next + 1, Math.min(end, next + 3)) !== 2) return false;
  return next + 3 < end && at(bytes, next + 3) === 0x2d && digits(bytes, next + 4, Math.min(end, next + 6)) === 2;
}

/** The type of a part with a digit; `NONE` where it stays: a name that is always written with one, or a function's before `()`. */
export function numberType(bytes: Bytes, start: number, end: number, isCall: boolean): number {
  const first = at(bytes, start);
  if (kept.has(bytes, start, end)) return NONE;
  if (isCall && (isLetter(first) || first === UNDERSCORE)) return NONE;
  if (isAddress(bytes, start, end)) return IP;
  if (isYear(bytes, start, end)) return YEAR;
  if (isNumber(bytes, start, end)) return N;
  if (isDate(bytes, start, end)) return TS;
  let [dots, slashes, backslashes] = [0, 0, 0];
  for (let index = start; index < end; index += 1) {
    const byte = at(bytes, index);
    if (byte === DOT) dots += 1;
    else if (byte === SLASH) slashes += 1;
    else if (byte === BACKSLASH) backslashes += 1;
  }
  if (isPath(bytes, start, end, slashes, backslashes)) return PATH;
  return dots > 1 ? HOST : ID;
}

/** The end of the part that begins at `from`: at a colon, or at a row of dots. */
export function endOfPart(bytes: Bytes, from: number, to: number): number {
  for (let index = from; index < to; index += 1) {
    const byte = bytes[index];
    if (byte === COLON || (byte === DOT && index + 1 < to && bytes[index + 1] === DOT)) return index;
  }
  return to;
}

/** The type of a part. */
export function partType(bytes: Bytes, start: number, end: number, isCall: boolean): number {
  for (let index = start; index < end; index += 1) if (isDigit(at(bytes, index))) return numberType(bytes, start, end, isCall);
  return nameType(bytes, start, end);
}

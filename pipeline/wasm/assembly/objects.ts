// The fields of a JSON object, flattened, as `Draft#readObject` of pipeline/logs/draft.ts has them.
import { NAMES_SEEN, MAX_NAMES, PIECE, PIECE_ROOM, TAPE, TAPE_FIELDS } from './memory';
import { equal, findSpelling, firstOf, lengthOf, nameOf, nextOf, setFirst, setNext, tokenOf } from './spellings';
import {
  clearShort,
  escapes,
  isDigit,
  isShort,
  short,
  skipColon,
  skipNumber,
  skipSpace,
  skipString,
  skipValue,
  skipWord,
  UNICODE_ESCAPED,
} from './tokens';

/** Deeper objects are not followed here. */
const MAX_DEPTH: u32 = 32;

/** What a field's token is; the first three as in the draft. */
const ABSENT: u32 = 0;
const STRING: u32 = 1;
const LITERAL: u32 = 2;
/** A string with `\u` escapes. */
const UNICODE_STRING: u32 = 3;
/** An array, or the object of the field that keeps it. */
const JSON_TEXT: u32 = 4;

/** How many fields stand on the tape. */
let fields: u32 = 0;
/** Running number of the scan. */
let scan: u32 = 0;
/** The name whose objects are kept as JSON. */
let whole: u32 = 0;

export function fieldCount(): u32 {
  return fields;
}

/** The bytes ended before the object that was scanned last did. */
export function isCutOff(): bool {
  return isShort;
}

/** Sets the name whose objects are kept as JSON. */
export function keepWhole(name: u32): void {
  whole = name;
}

/**
 * Reads the JSON object that begins `at` bytes into the piece and ends before `end`; fills the tape and gives the offset after it. Gives
 * 0 for whatever is not known for certain: a name that was not learnt, a name that comes twice, too many fields, too deep, no JSON.
 */
export function scanObject(at: usize, end: usize): usize {
  clearShort();
  fields = 0;
  scan += 1;
  if (scan == 0) {
    memory.fill(NAMES_SEEN, 0, (<usize>(MAX_NAMES + 1)) << 2);
    scan = 1;
  }
  end = min<usize>(end, PIECE_ROOM);
  if (at >= end) return 0;
  const after = members(PIECE + at, PIECE + end, 0, 1);
  return after == 0 ? 0 : after - PIECE;
}

function members(at: usize, end: usize, object: u32, depth: u32): usize {
  if (depth > MAX_DEPTH) return 0;
  at = skipSpace(at + 1, end);
  if (at >= end) return short();
  if (load<u8>(at) == 0x7d) return at + 1;
  let guess = firstOf(object);
  let before: u32 = 0;
  while (true) {
    let spelling = guess;
    if (guess != 0 && equal(tokenOf(guess), at, lengthOf(guess))) at += lengthOf(guess);
    else {
      if (load<u8>(at) != 0x22) return 0;
      const after = skipString(at, end);
      if (after == 0) return 0;
      spelling = findSpelling(object, at, after - at);
      if (spelling == 0) return 0;
      if (before == 0) setFirst(object, spelling);
      else setNext(before, spelling);
      at = after;
    }
    if (at < end && load<u8>(at) == 0x3a && load<u8>(at, 1) > 0x20) at += 1;
    else {
      at = skipColon(at, end);
      if (at == 0) return 0;
    }
    at = value(at, end, nameOf(spelling), depth);
    if (at == 0) return 0;
    if (load<u8>(at) <= 0x20) at = skipSpace(at, end);
    if (at >= end) return short();
    if (load<u8>(at) == 0x7d) return at + 1;
    if (load<u8>(at) != 0x2c) return 0;
    at += 1;
    if (load<u8>(at) != 0x22) at = skipSpace(at, end);
    if (at >= end) return short();
    before = spelling;
    guess = nextOf(spelling);
  }
}

function value(at: usize, end: usize, name: u32, depth: u32): usize {
  if (at >= end) return short();
  const byte = <u32>load<u8>(at);
  if (byte == 0x22) {
    const after = skipString(at, end);
    return put(name, after == at + 2 ? ABSENT : escapes == UNICODE_ESCAPED ? UNICODE_STRING : STRING, at, after);
  }
  if (byte == 0x2d || isDigit(byte)) return put(name, LITERAL, at, skipNumber(at, end));
  if (byte == 0x7b && name != whole) return members(at, end, name + 1, depth + 1);
  if (byte == 0x7b || byte == 0x5b) return put(name, JSON_TEXT, at, skipValue(at, end, 0));
  return put(name, byte == 0x6e ? ABSENT : LITERAL, at, skipWord(at, end));
}

/** Puts a field on the tape; gives `after`, or 0 where it cannot be put there. */
function put(name: u32, kind: u32, at: usize, after: usize): usize {
  const seen = NAMES_SEEN + ((<usize>name) << 2);
  if (after == 0 || fields >= TAPE_FIELDS || load<u32>(seen) == scan) return 0;
  store<u32>(seen, scan);
  const to = TAPE + ((<usize>fields) << 4);
  store<u32>(to, name);
  store<u32>(to, kind, 4);
  store<u32>(to, <u32>(at - PIECE), 8);
  store<u32>(to, <u32>(after - PIECE), 12);
  fields += 1;
  return after;
}

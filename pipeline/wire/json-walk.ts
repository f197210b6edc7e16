/**
 * Steps from member to member of a JSON object and from element to element of an array, over bytes that are known to be valid UTF-8.
 * What stands between them is checked here and nowhere else; the values are the caller's, mostly `skipValue`'s. An offset is -1, and
 * `last.failedAt` set, where the bytes are no JSON. Only `Draft` reads the members of entries by itself, which is on the path of each.
 */
import { CLOSE_ARRAY, CLOSE_OBJECT, COLON, COMMA, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from './bytes.ts';
import { failAt, skipSpace, skipString } from './json-tokens.ts';

/** The offset of the first name of the object at `at`, or of its closing brace; -1 where there is neither. */
export function openObject(bytes: Buffer, at: number, end: number): number {
  return open(bytes, at, end, OPEN_OBJECT);
}

/** The offset of the first element of the array at `at`, or of its closing bracket; -1 where there is neither. */
export function openArray(bytes: Buffer, at: number, end: number): number {
  return open(bytes, at, end, OPEN_ARRAY);
}

function open(bytes: Buffer, at: number, end: number, bracket: number): number {
  if (at >= end || bytes[at] !== bracket) return failAt(at, end);
  const first = skipSpace(bytes, at + 1, end);
  return first < end ? first : failAt(end, end);
}

/** Behind a name, which ends at `at`: the offset of its value; -1 where there is no colon. */
export function valueAfter(bytes: Buffer, at: number, end: number): number {
  const colon = bytes[at] === COLON ? at : skipSpace(bytes, at, end);
  if (colon >= end || bytes[colon] !== COLON) return failAt(colon, end);
  return skipSpace(bytes, colon + 1, end);
}

/** Behind a member's value, which ends at `at`: the offset of the next name, or of the closing brace. A negative `at` is passed on. */
export function nextMember(bytes: Buffer, at: number, end: number): number {
  return next(bytes, at, end, CLOSE_OBJECT);
}

/** The same for an element of an array. */
export function nextElement(bytes: Buffer, at: number, end: number): number {
  return next(bytes, at, end, CLOSE_ARRAY);
}

function next(bytes: Buffer, at: number, end: number, closer: number): number {
  if (at < 0) return at;
  const i = skipSpace(bytes, at, end);
  if (i < end && bytes[i] === closer) return i;
  if (i >= end || bytes[i] !== COMMA) return failAt(i, end);
  const following = skipSpace(bytes, i + 1, end);
  // a closer here would follow a comma
  return following < end && bytes[following] !== closer ? following : failAt(following, end);
}

/**
 * Takes the member whose value begins at `at` and gives the offset after that value; a negative one stops the walk. `name` is
 * decoded. Most visitors hand what they do not know to `skipValue`.
 */
export type VisitMember = (name: string, at: number, end: number) => number;
/** The same for an element of an array. */
export type VisitElement = (at: number, end: number) => number;

/** Walks the members of the JSON object that begins at `at`; gives the offset after it, or a negative one as `skipValue` does. */
export function walkObject(bytes: Buffer, at: number, end: number, visit: VisitMember): number {
  let i = openObject(bytes, at, end);
  while (i >= 0 && bytes[i] !== CLOSE_OBJECT) {
    if (bytes[i] !== QUOTE) return failAt(i, end);
    const after = skipString(bytes, i, end);
    if (after < 0) return after;
    const value = valueAfter(bytes, after, end);
    if (value < 0) return value;
    i = nextMember(bytes, visit(nameOf(bytes, i, after), value, end), end);
  }
  return i < 0 ? i : i + 1;
}

/** Walks the elements of the JSON array that begins at `at`; gives the offset after it, or a negative one as `skipValue` does. */
export function walkArray(bytes: Buffer, at: number, end: number, visit: VisitElement): number {
  let i = openArray(bytes, at, end);
  while (i >= 0 && bytes[i] !== CLOSE_ARRAY) i = nextElement(bytes, visit(i, end), end);
  return i < 0 ? i : i + 1;
}

/** The value of the JSON string at `bytes[start..after)`, which must be valid. */
export function stringAt(bytes: Buffer, start: number, after: number): string {
  return (JSON.parse(bytes.toString('utf8', start, after)) as string).toWellFormed();
}

function nameOf(bytes: Buffer, start: number, after: number): string {
  const text = bytes.toString('utf8', start + 1, after - 1);
  return text.includes('\\') ? stringAt(bytes, start, after) : text;
}

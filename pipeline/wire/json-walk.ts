import { last, skipSpace, skipString } from './json-tokens.ts';

/**
 * Takes the member whose value begins at `at` and gives the offset after that value; a negative one stops the walk. `name` is
 * decoded. Most visitors hand what they do not know to `skipValue`.
 */
export type VisitMember = (name: string, at: number, end: number) => number;
/** The same for an element of an array. */
export type VisitElement = (at: number, end: number) => number;

const NONE = -1;

/** Walks the members of the JSON object that begins at `at`; gives the offset after it, or a negative one as `skipValue` does. */
export function walkObject(bytes: Buffer, at: number, end: number, visit: VisitMember): number {
  if (at >= end || bytes[at] !== 0x7b) return failAt(at, end);
  let i = skipSpace(bytes, at + 1, end);
  if (i < end && bytes[i] === 0x7d) return i + 1;
  for (;;) {
    if (i >= end || bytes[i] !== 0x22) return failAt(i, end);
    const after = skipString(bytes, i, end);
    if (after < 0) return NONE;
    const name = nameOf(bytes, i, after);
    i = skipSpace(bytes, after, end);
    if (i >= end || bytes[i] !== 0x3a) return failAt(i, end);
    i = visit(name, skipSpace(bytes, i + 1, end), end);
    if (i < 0) return i;
    i = skipSpace(bytes, i, end);
    if (i < end && bytes[i] === 0x7d) return i + 1;
    if (i >= end || bytes[i] !== 0x2c) return failAt(i, end);
    i = skipSpace(bytes, i + 1, end);
  }
}

/** Walks the elements of the JSON array that begins at `at`; gives the offset after it, or a negative one as `skipValue` does. */
export function walkArray(bytes: Buffer, at: number, end: number, visit: VisitElement): number {
  if (at >= end || bytes[at] !== 0x5b) return failAt(at, end);
  let i = skipSpace(bytes, at + 1, end);
  if (i < end && bytes[i] === 0x5d) return i + 1;
  for (;;) {
    i = visit(i, end);
    if (i < 0) return i;
    i = skipSpace(bytes, i, end);
    if (i < end && bytes[i] === 0x5d) return i + 1;
    if (i >= end || bytes[i] !== 0x2c) return failAt(i, end);
    i = skipSpace(bytes, i + 1, end);
  }
}

/** The value of the JSON string at `bytes[start..after)`, which must be valid. */
export function stringAt(bytes: Buffer, start: number, after: number): string {
  return (JSON.parse(bytes.toString('utf8', start, after)) as string).toWellFormed();
}

function nameOf(bytes: Buffer, start: number, after: number): string {
  const text = bytes.toString('utf8', start + 1, after - 1);
  return text.includes('\\') ? stringAt(bytes, start, after) : text;
}

function failAt(at: number, end: number): -1 {
  last.failedAt = Math.min(at, end);
  return NONE;
}

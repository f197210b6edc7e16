import { Literal, type LogEntry } from '../pipeline/core/entry.ts';
import { last, skipValue } from '../pipeline/wire/json-tokens.ts';
import { walkArray, walkObject } from '../pipeline/wire/json-walk.ts';

/** The source of each element of a JSON array. Throws where it is not a valid one. */
export function splitArray(bytes: Buffer): string[] {
  const elements: string[] = [];
  const after = walkArray(bytes, 0, bytes.length, (at, end) => {
    const to = skipValue(bytes, at, end);
    if (to >= 0) elements.push(bytes.toString('utf8', at, to));
    return to;
  });
  if (after < 0) throw new Error(`Not a JSON array, at byte ${String(last.failedAt)}.`);
  return elements;
}

/** The source of each member of a JSON object, by name, so that no number is rounded. Throws where it is not a valid one. */
export function splitObject(bytes: Buffer): Map<string, string> {
  const members = new Map<string, string>();
  const after = walkObject(bytes, 0, bytes.length, (name, at, end) => {
    const to = skipValue(bytes, at, end);
    if (to >= 0) members.set(name, bytes.toString('utf8', at, to));
    return to;
  });
  if (after < 0) throw new Error('Not a JSON object.');
  return members;
}

/** Reads what `renderEntry` wrote. Throws on anything else than a JSON object. */
export function parseEntry(text: string): LogEntry {
  return new Map(
    [...splitObject(Buffer.from(text))].map(([name, value]) => [
      name,
      value.startsWith('"') ? (JSON.parse(value) as string) : new Literal(value),
    ]),
  );
}

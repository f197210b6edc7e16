import { Literal, type LogEntry } from '../pipeline/core/entry.ts';
import { skipSpace, skipString, skipValue } from '../pipeline/wire/json-tokens.ts';

/** The source of each element of a JSON array. Throws where it is not a valid one. */
export function splitArray(bytes: Buffer, start = 0): string[] {
  const elements: string[] = [];
  let at = skipSpace(bytes, start + 1, bytes.length);
  if (bytes[start] !== 0x5b) throw new Error('Not a JSON array.');
  while (bytes[at] !== 0x5d) {
    const after = skipValue(bytes, at, bytes.length);
    if (after < 0) throw new Error(`Not JSON at byte ${String(at)}.`);
    elements.push(bytes.toString('utf8', at, after));
    at = skipSpace(bytes, after, bytes.length);
    if (bytes[at] === 0x2c) at = skipSpace(bytes, at + 1, bytes.length);
    else if (bytes[at] !== 0x5d) throw new Error(`Not JSON at byte ${String(at)}.`);
  }
  return elements;
}

/** The source of each member of a JSON object, by name, so that no number is rounded. Throws where it is not a valid one. */
export function splitObject(bytes: Buffer): Map<string, string> {
  const members = new Map<string, string>();
  if (bytes[0] !== 0x7b || skipValue(bytes, 0, bytes.length) < 0) throw new Error('Not a JSON object.');
  let at = skipSpace(bytes, 1, bytes.length);
  while (bytes[at] === 0x22) {
    const nameEnd = skipString(bytes, at, bytes.length);
    const name = JSON.parse(bytes.toString('utf8', at, nameEnd)) as string;
    const value = skipSpace(bytes, skipSpace(bytes, nameEnd, bytes.length) + 1, bytes.length);
    const after = skipValue(bytes, value, bytes.length);
    members.set(name, bytes.toString('utf8', value, after));
    at = skipSpace(bytes, after, bytes.length);
    if (bytes[at] === 0x2c) at = skipSpace(bytes, at + 1, bytes.length);
  }
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

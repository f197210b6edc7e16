import { Literal } from '../core/entry.ts';
import { MAX_DEPTH, STRING, type Draft } from './draft.ts';
import type { Name } from './names.ts';

/**
 * A value in memory, of a format other than JSON: strings, numbers (bigint where 53 bits are not enough; `Literal` where the spelling
 * counts), bytes (a string where they are UTF-8, else hexadecimal), lists, and maps by name. Maps are `Map`s, so that no name is special.
 */
export type Value =
  | string
  | number
  | bigint
  | boolean
  | null
  | undefined
  | Literal
  | Uint8Array
  | readonly Value[]
  | ReadonlyMap<string, Value>;

/** Puts a value into the draft: maps are flattened with dots, lists become their JSON text, null is a missing field. */
export function putValue(draft: Draft, name: Name, value: Value, depth = 1): void {
  if (depth > MAX_DEPTH) draft.refuse(`nested deeper than ${String(MAX_DEPTH)} levels`);
  else if (value instanceof Map) putMembers(draft, name.text, value, depth);
  else if (Array.isArray(value)) putList(draft, name, value as readonly Value[], depth);
  else if (value instanceof Uint8Array) draft.putString(name, textOfBytes(value));
  else if (value instanceof Literal) draft.putLiteral(name, value.text);
  else putScalar(draft, name, value as string | number | bigint | boolean | null | undefined);
}

function putScalar(draft: Draft, name: Name, value: string | number | bigint | boolean | null | undefined): void {
  if (typeof value === 'string') draft.putString(name, value);
  else if (value === null || value === undefined) draft.putString(name, '');
  else if (typeof value === 'number' && !Number.isFinite(value)) draft.putString(name, String(value));
  else draft.putLiteral(name, String(value));
}

/** Puts every member of a map in as a field, below `parent` where that is not empty. */
export function putMembers(draft: Draft, parent: string, members: ReadonlyMap<string, Value>, depth = 1): void {
  for (const [own, value] of members) {
    const text = (parent === '' ? own : `${parent}.${own}`).toWellFormed();
    putValue(draft, draft.names.of(text), value, depth + 1);
    if (draft.problem !== '') return;
  }
}

function putList(draft: Draft, name: Name, list: readonly Value[], depth: number): void {
  const text = jsonOf(list, depth);
  if (text === null) draft.refuse(`nested deeper than ${String(MAX_DEPTH)} levels`);
  else draft.set(name, STRING, JSON.stringify(text));
}

/** The JSON text of a value; null where it is nested too deep. */
function jsonOf(value: Value, depth = 1): string | null {
  if (depth > MAX_DEPTH) return null;
  if (Array.isArray(value))
    return joined(
      '[',
      (value as readonly Value[]).map((item) => jsonOf(item, depth + 1)),
      ']',
    );
  if (value instanceof Map) {
    const members = [...(value as ReadonlyMap<string, Value>)].map(([name, item]) => {
      const text = jsonOf(item, depth + 1);
      return text === null ? null : `${JSON.stringify(name.toWellFormed())}:${text}`;
    });
    return joined('{', members, '}');
  }
  if (value instanceof Literal) return value.text;
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Uint8Array) return JSON.stringify(textOfBytes(value));
  if (typeof value === 'string') return JSON.stringify(value.toWellFormed());
  if (typeof value === 'number' && !Number.isFinite(value)) return JSON.stringify(String(value));
  return JSON.stringify(value ?? null);
}

function joined(open: string, parts: readonly (string | null)[], close: string): string | null {
  return parts.includes(null) ? null : `${open}${parts.join(',')}${close}`;
}

function textOfBytes(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const text = buffer.toString('utf8');
  return Buffer.byteLength(text) === buffer.length && !text.includes('\uFFFD') ? text : buffer.toString('hex');
}

import { head, numberText, readHead } from '../../wire/msgpack.ts';
import { formatTime } from '../../core/time.ts';
import { MAX_DEPTH, STRING, type Draft } from '../../logs/draft.ts';
import type { Name } from '../../logs/names.ts';

/** A time as `readPackedTime` sets it: whole seconds since 1970 and nanoseconds in them. */
export type PackedTime = { seconds: number; nanos: number };

/** A value of a body that `skipPacked` has been over, so that nothing of it is cut off. `at` moves on as it is read. */
type Cursor = { readonly bytes: Buffer; at: number };

/**
 * Puts the members of the MessagePack map at `at` in as fields, below `parent` where that is not empty: maps are flattened with dots,
 * arrays become their JSON text, bytes are text. `skipPacked` must have been over it.
 */
export function putPackedMap(draft: Draft, bytes: Buffer, at: number, parent = ''): void {
  putMembers(draft, { bytes, at }, parent, 1);
}

function putMembers(draft: Draft, cursor: Cursor, parent: string, depth: number): void {
  const { bytes } = cursor;
  readHead(bytes, cursor.at, bytes.length);
  const pairs = head.size;
  cursor.at = head.start;
  for (let pair = 0; pair < pairs && draft.problem === ''; pair++) {
    readHead(bytes, cursor.at, bytes.length);
    let name: Name;
    if (parent === '' && isText()) {
      cursor.at = head.start + head.size;
      name = draft.names.ofBytes(bytes, head.start, cursor.at);
    } else {
      const own = keyText(cursor);
      if (own === null) {
        draft.refuse('a key of a map that is an array or a map');
        return;
      }
      name = draft.names.of(parent === '' ? own : `${parent}.${own}`);
    }
    putPacked(draft, name, cursor, depth);
  }
}

function putPacked(draft: Draft, name: Name, cursor: Cursor, depth: number): void {
  const { bytes, at } = cursor;
  readHead(bytes, at, bytes.length);
  const { kind, start, size } = head;
  if (kind === 'map' && name.text !== '_msg') {
    if (depth >= MAX_DEPTH) draft.refuse(TOO_DEEP);
    else putMembers(draft, cursor, name.text, depth + 1);
  } else if (kind === 'map' || kind === 'array') {
    const text = jsonOf(cursor, depth + 1);
    if (text === null) draft.refuse(TOO_DEEP);
    else draft.set(name, STRING, JSON.stringify(text));
  } else {
    cursor.at = start + size;
    if (kind === 'str' || kind === 'bin') draft.putText(name, bytes, start, start + size);
    else if (kind === 'int') draft.putLiteral(name, numberText(bytes, at));
    else if (kind === 'bool') draft.putLiteral(name, bytes[at] === 0xc3 ? 'true' : 'false');
    else if (kind === 'float') putFloat(draft, name, numberText(bytes, at));
    else draft.putString(name, kind === 'nil' ? '' : extText(bytes, at));
  }
}

const TOO_DEEP = `nested deeper than ${String(MAX_DEPTH)} levels`;

const isText = (): boolean => head.kind === 'str' || head.kind === 'bin';

/** JSON has no word for infinities and NaN, so they are text. */
function putFloat(draft: Draft, name: Name, text: string): void {
  if (isFinite(Number(text))) draft.putLiteral(name, text);
  else draft.putString(name, text);
}

/** A key as a string; null where it is not a scalar. */
function keyText(cursor: Cursor): string | null {
  readHead(cursor.bytes, cursor.at, cursor.bytes.length);
  if (head.kind === 'array' || head.kind === 'map') return null;
  if (!isText()) return jsonOf(cursor, 1);
  const { start, size } = head;
  cursor.at = start + size;
  return cursor.bytes.toString('utf8', start, cursor.at);
}

/** The JSON text of a value; null where it is nested too deep, and then the cursor stands anywhere. */
function jsonOf(cursor: Cursor, depth: number): string | null {
  const { bytes, at } = cursor;
  readHead(bytes, at, bytes.length);
  const { kind, start, size } = head;
  if (kind === 'array' || kind === 'map') {
    if (depth > MAX_DEPTH) return null;
    cursor.at = start;
    return kind === 'array' ? jsonList(cursor, size, depth) : jsonMap(cursor, size, depth);
  }
  cursor.at = start + size;
  if (kind === 'str' || kind === 'bin') return JSON.stringify(bytes.toString('utf8', start, start + size));
  if (kind === 'nil') return 'null';
  if (kind === 'bool') return bytes[at] === 0xc3 ? 'true' : 'false';
  if (kind === 'ext') return JSON.stringify(extText(bytes, at));
  const number = numberText(bytes, at);
  return isFinite(Number(number)) ? number : JSON.stringify(number);
}

function jsonList(cursor: Cursor, size: number, depth: number): string | null {
  const items: string[] = [];
  for (let item = 0; item < size; item++) {
    const text = jsonOf(cursor, depth + 1);
    if (text === null) return null;
    items.push(text);
  }
  return `[${items.join(',')}]`;
}

function jsonMap(cursor: Cursor, size: number, depth: number): string | null {
  const members: string[] = [];
  for (let pair = 0; pair < size; pair++) {
    const key = keyText(cursor);
    const text = key === null ? null : jsonOf(cursor, depth + 1);
    if (key === null || text === null) return null;
    members.push(`${JSON.stringify(key)}:${text}`);
  }
  return `{${members.join(',')}}`;
}

/** An extension as a string: a time in ISO 8601, anything else in hexadecimal. */
function extText(bytes: Buffer, at: number): string {
  const time: PackedTime = { seconds: 0, nanos: 0 };
  const { start, size } = head;
  if (readPackedTime(bytes, at, time)) return formatTime(BigInt(time.seconds) * 1_000_000_000n + BigInt(time.nanos));
  return bytes.toString('hex', start, start + size);
}

/**
 * Reads an extension that is a time: Fluentd's EventTime (type 0, https://github.com/fluent/fluentd/wiki/Forward-Protocol-Specification-v1)
 * or MessagePack's own timestamp (type -1). False where the value at `at` is none.
 */
export function readPackedTime(bytes: Buffer, at: number, time: PackedTime): boolean {
  if (!readHead(bytes, at, bytes.length) || head.kind !== 'ext') return false;
  const { start, size, type } = head;
  if (type === 0 && size === 8) return split(time, bytes.readUInt32BE(start), bytes.readUInt32BE(start + 4));
  if (type !== -1) return false;
  if (size === 4) return split(time, bytes.readUInt32BE(start), 0);
  if (size === 8)
    return split(time, (bytes.readUInt32BE(start) % 4) * 2 ** 32 + bytes.readUInt32BE(start + 4), bytes.readUInt32BE(start) >>> 2);
  return size === 12 && split(time, Number(bytes.readBigInt64BE(start + 4)), bytes.readUInt32BE(start));
}

function split(time: PackedTime, seconds: number, nanos: number): boolean {
  time.seconds = seconds;
  time.nanos = nanos;
  return nanos < 1e9 && Math.abs(seconds) < 1e10;
}

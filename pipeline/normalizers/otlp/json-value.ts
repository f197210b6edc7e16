import { CLOSE_ARRAY, CLOSE_OBJECT, OPEN_OBJECT, QUOTE } from '../../wire/bytes.ts';
import { Literal } from '../../core/entry.ts';
import { last, PLAIN, skipNumber, skipString, skipValue } from '../../wire/json-tokens.ts';
import { nextElement, nextMember, openArray, openObject, stringAt } from '../../wire/json-walk.ts';
import { LITERAL, MAX_DEPTH, type Draft } from '../../logs/draft.ts';
import type { Name } from '../../logs/names.ts';
import { putValue, type Value } from '../../logs/values.ts';
import { MemberNames } from '../shared/json-members.ts';
import { putStringToken } from '../shared/json-token-field.ts';
import type { SplitTime } from '../../rows/halves.ts';
import { readNanos } from '../shared/nanos.ts';
import { ANY_VALUE, KEY_VALUE, LIST } from './schema.ts';

/** The names of a message's fields, in camelCase as the protocol has them and in snake_case as some producers write them. */
export function otlpNames(fields: Readonly<Record<string, number>>): MemberNames {
  const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return new MemberNames({ ...fields, ...Object.fromEntries(Object.entries(fields).map(([name, field]) => [snake(name), field])) });
}

const KEY_VALUE_NAMES = otlpNames(KEY_VALUE);
const ANY_VALUE_NAMES = otlpNames(ANY_VALUE);
const LIST_NAMES = otlpNames(LIST);

/** An AnyValue in the body: which of its fields it has (0: none), and the token of that field's value. */
type AnyToken = { field: number; start: number; end: number; escapes: number };
const found: AnyToken = { field: 0, start: 0, end: 0, escapes: PLAIN };

/** Finds the AnyValue at `at`; gives the offset after it. Anything but an object, null too, is an AnyValue without a field. */
function findAnyValue(body: Buffer, at: number, end: number): number {
  found.field = 0;
  if (body[at] !== OPEN_OBJECT) return skipValue(body, at, end);
  let i = openObject(body, at, end);
  while (i >= 0 && body[i] !== CLOSE_OBJECT) {
    i = ANY_VALUE_NAMES.find(body, i, end);
    if (i < 0) return -1;
    const { field } = ANY_VALUE_NAMES;
    const start = i;
    i = body[i] === QUOTE ? skipString(body, i, end) : skipValue(body, i, end);
    if (i >= 0 && field !== 0 && !isNull(body, start)) {
      found.field = field;
      found.start = start;
      found.end = i;
      found.escapes = last.escapes;
    }
    i = nextMember(body, i, end);
  }
  return i < 0 ? -1 : i + 1;
}

const isNull = (body: Buffer, at: number): boolean => body[at] === 0x6e;

/** Puts the KeyValue at `at` of the draft's body into it, its key behind `prefix`. Gives the offset after it. */
export function putKeyValue(draft: Draft, at: number, end: number, prefix: string): number {
  const { body } = draft;
  let keyStart = -1;
  let keyEnd = -1;
  let plain = true;
  let value = -1;
  let i = openObject(body, at, end);
  found.field = 0;
  while (i >= 0 && body[i] !== CLOSE_OBJECT) {
    i = KEY_VALUE_NAMES.find(body, i, end);
    if (i < 0) return -1;
    const { field } = KEY_VALUE_NAMES;
    if (field === KEY_VALUE.key && body[i] === QUOTE) {
      keyStart = i;
      i = keyEnd = skipString(body, i, end);
      plain = last.escapes === PLAIN;
    } else if (field === KEY_VALUE.value) {
      value = i;
      i = findAnyValue(body, i, end);
    } else i = skipValue(body, i, end);
    i = nextMember(body, i, end);
  }
  if (i >= 0 && value >= 0) putFound(draft, keyName(draft, keyStart, keyEnd, plain, prefix));
  return i < 0 ? -1 : i + 1;
}

/** A key that is missing is empty, as in protobuf. */
function keyName(draft: Draft, start: number, end: number, plain: boolean, prefix: string): Name {
  const { body, names } = draft;
  if (start < 0) return names.of(prefix);
  return plain && prefix === '' ? names.ofBytes(body, start + 1, end - 1) : names.of(prefix + stringAt(body, start, end));
}

/** Puts the AnyValue at `at` into the draft, but gives one that is a list of pairs. */
export function putAnyValue(draft: Draft, name: Name, at: number, end: number): ReadonlyMap<string, Value> | null {
  findAnyValue(draft.body, at, end);
  if (found.field === ANY_VALUE.kvlistValue) return valueOf(draft, 1) as ReadonlyMap<string, Value>;
  putFound(draft, name);
  return null;
}

function putFound(draft: Draft, name: Name): void {
  const { field, start, end, escapes } = found;
  const first = draft.body[start];
  if (field === 0) return;
  if (field === ANY_VALUE.stringValue && first === QUOTE) putStringToken(draft, name, start, end, escapes);
  else if (field >= ANY_VALUE.arrayValue || first === OPEN_OBJECT || first === 0x5b) putValue(draft, name, valueOf(draft, 1));
  else if (first !== QUOTE) draft.putToken(name, LITERAL, start, end);
  else if (isNumber(draft.body, start + 1, end - 1)) draft.putToken(name, LITERAL, start + 1, end - 1);
  else putStringToken(draft, name, start, end, escapes);
}

const isNumber = (body: Buffer, start: number, end: number): boolean => start < end && skipNumber(body, start, end) === end;

/** What was found, as a value in memory. One nested too deep refuses the draft's entry. */
function valueOf(draft: Draft, depth: number): Value {
  const { body } = draft;
  const { field, start, end } = found;
  switch (field) {
    case 0:
      return undefined;
    case ANY_VALUE.arrayValue:
      return listOf(draft, start, end, depth + 1);
    case ANY_VALUE.kvlistValue:
      return pairsOf(draft, start, end, depth + 1);
  }
  if (body[start] === QUOTE) {
    const text = stringAt(body, start, end);
    const isText = field === ANY_VALUE.stringValue || field === ANY_VALUE.bytesValue || !isNumber(body, start + 1, end - 1);
    return isText ? text : new Literal(text);
  }
  return body[start] === OPEN_OBJECT || body[start] === 0x5b ? longOf(body, start, end) : new Literal(body.toString('latin1', start, end));
}

/** The 64-bit number that old JavaScript SDKs write as `{"low":…,"high":…}`; another object or an array is its JSON. */
export function longOf(body: Buffer, start: number, end: number): Value {
  const text = body.toString('utf8', start, end);
  const { low, high } = JSON.parse(text) as { readonly low?: unknown; readonly high?: unknown };
  if (!Number.isInteger(low) || !Number.isInteger(high)) return text;
  return BigInt.asIntN(64, (BigInt(high as number) << 32n) | BigInt.asUintN(32, BigInt(low as number)));
}

/** Reads the time of a fixed64 field whose token is `body[at..after)`: a number, a string, or what old SDKs write. Empty: nothing. False: it is none. */
export function readUnixNano(body: Buffer, at: number, after: number, into: SplitTime): boolean {
  const quotes = body[at] === QUOTE ? 1 : 0;
  if (after - at === 2 && quotes === 1) return true;
  if (readNanos(body, at + quotes, after - quotes, into)) return true;
  const long = body[at] === OPEN_OBJECT ? longOf(body, at, after) : null;
  if (typeof long !== 'bigint' || long < 0n) return false;
  into.seconds = Number(long / 1_000_000_000n);
  into.nanos = Number(long % 1_000_000_000n);
  return true;
}

function listOf(draft: Draft, at: number, end: number, depth: number): readonly Value[] {
  const items: Value[] = [];
  eachValue(draft, at, end, depth, (i) => {
    const after = findAnyValue(draft.body, i, end);
    items.push(valueOf(draft, depth));
    return after;
  });
  return items;
}

function pairsOf(draft: Draft, at: number, end: number, depth: number): ReadonlyMap<string, Value> {
  const { body } = draft;
  const pairs = new Map<string, Value>();
  eachValue(draft, at, end, depth, (element) => {
    let key = '';
    let value: Value;
    let i = openObject(body, element, end);
    while (i >= 0 && body[i] !== CLOSE_OBJECT) {
      i = KEY_VALUE_NAMES.find(body, i, end);
      const { field } = KEY_VALUE_NAMES;
      const after = field === KEY_VALUE.value ? findAnyValue(body, i, end) : skipValue(body, i, end);
      if (field === KEY_VALUE.value) value = valueOf(draft, depth);
      else if (field === KEY_VALUE.key && body[i] === QUOTE) key = stringAt(body, i, after);
      i = nextMember(body, after, end);
    }
    pairs.set(key, value);
    return i < 0 ? skipValue(body, element, end) : i + 1;
  });
  return pairs;
}

/** Visits each of the `values` of the list at `at`, which is valid JSON; deeper than an entry may be nested, none. */
function eachValue(draft: Draft, at: number, end: number, depth: number, read: (at: number) => number): void {
  const { body } = draft;
  if (depth > MAX_DEPTH) draft.refuse(`nested deeper than ${String(MAX_DEPTH)} levels`);
  let i = depth > MAX_DEPTH ? -1 : openObject(body, at, end);
  while (i >= 0 && body[i] !== CLOSE_OBJECT) {
    i = LIST_NAMES.find(body, i, end);
    const isList = LIST_NAMES.field === LIST.values && body[i] === 0x5b;
    const after = skipValue(body, i, end);
    for (let item = isList ? openArray(body, i, after) : -1; item >= 0 && body[item] !== CLOSE_ARRAY;) {
      item = nextElement(body, read(item), after);
    }
    i = nextMember(body, after, end);
  }
}

import type { AttributeList } from '../../traces/attribute-list.ts';
import { TYPES } from '../../traces/span.ts';
import { MAX_DEPTH, type ValueText } from '../../traces/value-text.ts';
import { CLOSE_ARRAY, CLOSE_OBJECT, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from '../../wire/bytes.ts';
import { last, PLAIN, skipString, skipValue, UNICODE_ESCAPED } from '../../wire/json-tokens.ts';
import { nextElement, nextMember, openArray, openObject, stringAt } from '../../wire/json-walk.ts';
import { longOf, otlpNames } from './json-value.ts';
import { ANY_VALUE, KEY_VALUE, LIST } from './schema.ts';

/**
 * Attributes of spans in OTLP's JSON. Each function takes the offset of a value and returns the offset after it; -1 where it is no JSON. What
 * is nested too deep is passed over, not entered.
 */
const KEY_VALUE_NAMES = otlpNames(KEY_VALUE);
const ANY_VALUE_NAMES = otlpNames(ANY_VALUE);
const LIST_NAMES = otlpNames(LIST);

const NULL = 0x6e;
const MAX_INT64 = 2n ** 63n;

/** The type of the value that was added last; empty where it is nested too deep. */
const added: { type: string } = { type: '' };

/** Whether the attribute that `addPair` has passed over was too deep to be added. */
export const isTooDeep = (): boolean => added.type === '';

/** Adds the KeyValue at `at`, which is an object. */
export function addPair(body: Buffer, at: number, end: number, list: AttributeList, text: ValueText): number {
  const { values } = list;
  const mark = values.length;
  let [keyStart, keyEnd, isPlain, hasValue] = [-1, -1, true, false];
  let type: string = TYPES.none;
  let i = openObject(body, at, end);
  while (i >= 0 && body[i] !== CLOSE_OBJECT) {
    i = KEY_VALUE_NAMES.find(body, i, end);
    if (i < 0) return -1;
    const { field } = KEY_VALUE_NAMES;
    if (field === KEY_VALUE.key && body[i] === QUOTE) {
      keyStart = i;
      i = keyEnd = skipString(body, i, end);
      isPlain = last.escapes === PLAIN;
    } else if (field === KEY_VALUE.value) {
      values.length = mark;
      i = addValue(body, i, end, list, text);
      type = added.type;
      hasValue = true;
    } else i = skipValue(body, i, end);
    i = nextMember(body, i, end);
  }
  if (i < 0) return -1;
  if (!hasValue) values.raw(body, 0, 0);
  added.type = type;
  if (type === '') values.length = mark;
  else if (keyStart < 0) list.add(body, 0, 0, type);
  else if (isPlain) list.add(body, keyStart + 1, keyEnd - 1, type);
  else list.addNamed(stringAt(body, keyStart, keyEnd), type);
  return i + 1;
}

/** Adds the AnyValue at `at` to the list's values, and sets `added`. The last of its fields counts. */
function addValue(body: Buffer, at: number, end: number, { values }: AttributeList, text: ValueText): number {
  const mark = values.length;
  let type: string = TYPES.none;
  if (body[at] !== OPEN_OBJECT) {
    values.raw(body, 0, 0);
    added.type = type;
    return skipValue(body, at, end);
  }
  let i = openObject(body, at, end);
  while (i >= 0 && body[i] !== CLOSE_OBJECT) {
    i = ANY_VALUE_NAMES.find(body, i, end);
    if (i < 0) return -1;
    const { field } = ANY_VALUE_NAMES;
    const start = i;
    if (field === ANY_VALUE.arrayValue || field === ANY_VALUE.kvlistValue) {
      i = putWhole(body, i, end, text, field === ANY_VALUE.kvlistValue);
      values.length = mark;
      type = text.isTooDeep ? '' : text.isOtlp ? TYPES.otlpJson : TYPES.json;
      if (i >= 0 && type !== '') values.raw(text.bytes, 0, text.length);
    } else {
      i = body[i] === QUOTE ? skipString(body, i, end) : skipValue(body, i, end);
      if (i >= 0 && field !== 0 && body[start] !== NULL) {
        values.length = mark;
        type = TYPES.string;
        if (field === ANY_VALUE.stringValue && body[start] === QUOTE && last.escapes !== UNICODE_ESCAPED)
          values.token(body, start + 1, i - 1);
        else {
          const scalar = scalarOf(body, start, i, field);
          values.text(scalar.text);
          ({ type } = scalar);
        }
      }
    }
    i = nextMember(body, i, end);
  }
  if (i >= 0 && type === TYPES.none) values.raw(body, 0, 0);
  added.type = type;
  return i < 0 ? -1 : i + 1;
}

/** Writes the ArrayValue or KeyValueList at `at` as plain JSON, or as OTLP's where that does not tell its types. */
function putWhole(body: Buffer, at: number, end: number, to: ValueText, isPairs: boolean): number {
  to.begin(false);
  const after = putList(body, at, end, to, isPairs, 2);
  if (after < 0 || to.isTooDeep || to.isPlain) return after;
  to.begin(true);
  return putList(body, at, end, to, isPairs, 2);
}

/** A value that is no list by its token; one that is not what its field says is a string. */
function scalarOf(body: Buffer, start: number, after: number, field: number): { readonly type: string; readonly text: string } {
  const first = body[start];
  if (first === OPEN_OBJECT || first === OPEN_ARRAY) {
    const long = longOf(body, start, after);
    return typeof long === 'bigint' && field === ANY_VALUE.intValue ? { type: TYPES.int, text: String(long) } : { type: TYPES.string, text: body.toString('utf8', start, after) }; // prettier-ignore
  }
  const text = first === QUOTE ? stringAt(body, start, after) : body.toString('latin1', start, after);
  switch (field) {
    case ANY_VALUE.boolValue:
      if (text === 'true' || text === 'false') return { type: TYPES.boolean, text };
      break;
    case ANY_VALUE.intValue:
      if (isInt64(text)) return { type: TYPES.int, text };
      break;
    case ANY_VALUE.doubleValue:
      if (/^-?(?:\d|Infinity$)|^NaN$/.test(text) && text.length < 400) {
        const number = Number(text);
        return { type: TYPES.double, text: Object.is(number, -0) ? '-0' : String(number) };
      }
      break;
    case ANY_VALUE.bytesValue:
      return { type: TYPES.bytes, text: Buffer.from(text, 'base64').toString('base64') };
  }
  return { type: TYPES.string, text };
}

function isInt64(text: string): boolean {
  if (text.length > 20 || !/^-?(?:0|[1-9]\d*)$/.test(text)) return false;
  if (text.length < 16) return text !== '-0';
  const number = BigInt(text);
  return number < MAX_INT64 && number >= -MAX_INT64;
}

/** Writes the AnyValue at `at`. */
function putValue(body: Buffer, at: number, end: number, to: ValueText, depth: number): number {
  const mark = to.length;
  if (body[at] !== OPEN_OBJECT) {
    to.none();
    return skipValue(body, at, end);
  }
  let i = openObject(body, at, end);
  while (i >= 0 && body[i] !== CLOSE_OBJECT) {
    i = ANY_VALUE_NAMES.find(body, i, end);
    if (i < 0) return -1;
    const { field } = ANY_VALUE_NAMES;
    if (field === 0 || body[i] === NULL) i = skipValue(body, i, end);
    else {
      to.length = mark;
      const isList = field === ANY_VALUE.arrayValue || field === ANY_VALUE.kvlistValue;
      i = isList ? putList(body, i, end, to, field === ANY_VALUE.kvlistValue, depth + 1) : putScalar(body, i, end, to, field);
    }
    i = nextMember(body, i, end);
  }
  if (to.length === mark) to.none();
  return i < 0 ? -1 : i + 1;
}

function putScalar(body: Buffer, at: number, end: number, to: ValueText, field: number): number {
  const after = body[at] === QUOTE ? skipString(body, at, end) : skipValue(body, at, end);
  if (after < 0) return -1;
  if (field === ANY_VALUE.stringValue && body[at] === QUOTE) {
    putToken(body, at, after, to);
    return after;
  }
  const { type, text } = scalarOf(body, at, after, field);
  if (type === TYPES.boolean) to.boolean(text === 'true');
  else if (type === TYPES.int) to.int(text);
  else if (type === TYPES.double) to.double(Number(text));
  else if (type === TYPES.bytes) to.binary(text);
  else to.text(Buffer.from(text), 0, Buffer.byteLength(text));
  return after;
}

/** Writes a string that `skipString` has just passed; escapes may spell lone surrogates, which are not characters. */
function putToken(body: Buffer, at: number, after: number, to: ValueText): void {
  if (last.escapes !== UNICODE_ESCAPED) to.token(body, at, after);
  else {
    const text = Buffer.from(stringAt(body, at, after));
    to.text(text, 0, text.length);
  }
}

/** Writes the ArrayValue or KeyValueList at `at`. */
function putList(body: Buffer, at: number, end: number, to: ValueText, isPairs: boolean, depth: number): number {
  if (depth > MAX_DEPTH) to.isTooDeep = true;
  if (to.isTooDeep) return skipValue(body, at, end);
  let i = body[at] === OPEN_OBJECT ? openObject(body, at, end) : -2;
  let isFirst = true;
  if (isPairs) to.openPairs();
  else to.openArray();
  while (i >= 0 && body[i] !== CLOSE_OBJECT) {
    i = LIST_NAMES.find(body, i, end);
    if (i < 0) return -1;
    if (LIST_NAMES.field === LIST.values && body[i] === OPEN_ARRAY && isFirst) {
      i = openArray(body, i, end);
      while (i >= 0 && body[i] !== CLOSE_ARRAY) {
        if (isPairs) i = putPair(body, i, end, to, isFirst, depth);
        else {
          if (!isFirst) to.ascii(',');
          i = putValue(body, i, end, to, depth);
        }
        isFirst = false;
        i = nextElement(body, i, end);
      }
      i = i < 0 ? -1 : i + 1;
    } else i = skipValue(body, i, end);
    i = nextMember(body, i, end);
  }
  if (isPairs) to.closePairs();
  else to.closeArray();
  if (i === -2) return skipValue(body, at, end);
  return i < 0 ? -1 : i + 1;
}

/** Writes the KeyValue at `at`; another value is one without a key. */
export function putPair(body: Buffer, at: number, end: number, to: ValueText, isFirst: boolean, depth: number): number {
  let [hasKey, isWritten, value] = [false, false, -1];
  to.openPair(isFirst);
  let i = body[at] === OPEN_OBJECT ? openObject(body, at, end) : -2;
  while (i >= 0 && body[i] !== CLOSE_OBJECT) {
    i = KEY_VALUE_NAMES.find(body, i, end);
    if (i < 0) return -1;
    const { field } = KEY_VALUE_NAMES;
    if (field === KEY_VALUE.key && body[i] === QUOTE && !hasKey) {
      const start = i;
      i = skipString(body, i, end);
      if (i >= 0) putKey(body, start, i, to);
      hasKey = true;
    } else if (field === KEY_VALUE.value && hasKey && !isWritten) {
      to.afterKey();
      i = putValue(body, i, end, to, depth);
      isWritten = true;
    } else {
      if (field === KEY_VALUE.value) value = i;
      i = skipValue(body, i, end);
    }
    i = nextMember(body, i, end);
  }
  if (i === -1) return -1;
  if (!hasKey) to.ascii('""');
  if (!isWritten) {
    to.afterKey();
    if (value < 0) to.none();
    else putValue(body, value, end, to, depth);
  }
  to.closePair();
  return i === -2 ? skipValue(body, at, end) : i + 1;
}

function putKey(body: Buffer, at: number, after: number, to: ValueText): void {
  if (last.escapes !== UNICODE_ESCAPED) to.raw(body, at, after);
  else {
    const text = Buffer.from(stringAt(body, at, after));
    to.string(text, 0, text.length);
  }
}

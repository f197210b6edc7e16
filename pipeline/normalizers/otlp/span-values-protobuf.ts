import { putUtf8, type AttributeList } from '../../traces/attribute-list.ts';
import { TYPES } from '../../traces/span.ts';
import { MAX_DEPTH, type ValueText } from '../../traces/value-text.ts';
import type { ProtobufReader } from '../../wire/protobuf.ts';
import { ANY_VALUE_TAGS, KEY_VALUE_TAGS, LIST_TAGS } from './schema.ts';

const STRING = ANY_VALUE_TAGS.stringValue;
const BOOL = ANY_VALUE_TAGS.boolValue;
const INT = ANY_VALUE_TAGS.intValue;
const DOUBLE = ANY_VALUE_TAGS.doubleValue;
const ARRAY = ANY_VALUE_TAGS.arrayValue;
const PAIRS = ANY_VALUE_TAGS.kvlistValue;
const BYTES = ANY_VALUE_TAGS.bytesValue;
const KNOWN: ReadonlySet<number> = new Set([STRING, BOOL, INT, DOUBLE, ARRAY, PAIRS, BYTES]);

/** Where the key of a KeyValue lies, and its value; `valueStart` is negative where it has none. */
const pair = { keyStart: 0, keyEnd: 0, valueStart: -1, valueEnd: -1 };

/** Finds key and value of the KeyValue that was entered, in any order; goes to its end. */
function findPair(wire: ProtobufReader): void {
  const { end } = wire;
  pair.keyStart = pair.keyEnd = wire.at;
  pair.valueStart = -1;
  while (wire.at < end) {
    const tag = wire.tag();
    if (tag !== KEY_VALUE_TAGS.key && tag !== KEY_VALUE_TAGS.value) {
      wire.skip(tag);
      continue;
    }
    const outer = wire.enter();
    if (tag === KEY_VALUE_TAGS.key) {
      pair.keyStart = wire.at;
      pair.keyEnd = wire.end;
    } else {
      pair.valueStart = wire.at;
      pair.valueEnd = wire.end;
    }
    wire.leave(outer);
  }
}

/** Adds the KeyValue that was entered. False: it is nested too deep. */
export function addPair(wire: ProtobufReader, list: AttributeList, text: ValueText): boolean {
  const { end, bytes } = wire;
  findPair(wire);
  const { keyStart, keyEnd, valueStart, valueEnd } = pair;
  let type: string = TYPES.none;
  if (valueStart < 0) list.values.raw(bytes, 0, 0);
  else {
    wire.seek(valueStart, valueEnd);
    type = addValue(wire, list, text);
    wire.seek(end, end);
  }
  if (type === '') return false;
  list.add(bytes, keyStart, keyEnd, type);
  return true;
}

/** Adds the AnyValue that was entered to the list's values; returns its type, empty where it is nested too deep. The last of its fields counts. */
function addValue(wire: ProtobufReader, { values }: AttributeList, text: ValueText): string {
  const { at, end } = wire;
  const only = addOnlyField(wire, values);
  if (only !== '') return only;
  wire.seek(at, end);
  const tag = lastField(wire);
  switch (tag) {
    case STRING: {
      wire.enter();
      putUtf8(values, wire.bytes, wire.at, wire.end);
      return TYPES.string;
    }
    case INT:
      values.text(wire.int64Text());
      return TYPES.int;
    case BOOL:
      values.text(String(wire.varint32() !== 0));
      return TYPES.boolean;
    case DOUBLE: {
      const number = wire.double();
      values.text(Object.is(number, -0) ? '-0' : String(number));
      return TYPES.double;
    }
    case BYTES:
      wire.enter();
      values.text(wire.bytes.toString('base64', wire.at, wire.end));
      return TYPES.bytes;
    case 0:
      values.raw(wire.bytes, 0, 0);
      return TYPES.none;
  }
  for (const isOtlp of [false, true]) {
    text.begin(isOtlp);
    wire.seek(at, end);
    putValue(wire, text, 1);
    if (text.isTooDeep) return '';
    if (text.isPlain) break;
  }
  values.raw(text.bytes, 0, text.length);
  return text.isOtlp ? TYPES.otlpJson : TYPES.json;
}

/** Adds the AnyValue that was entered where it is one field, a string or a small number, as nearly all are; else returns an empty type, and nothing was added. */
function addOnlyField(wire: ProtobufReader, values: AttributeList['values']): string {
  const { end } = wire;
  if (wire.at === end) return '';
  const tag = wire.tag();
  if (tag === STRING) {
    const outer = wire.enter();
    if (wire.end !== outer) return '';
    putUtf8(values, wire.bytes, wire.at, wire.end);
    return TYPES.string;
  }
  if (tag !== INT) return '';
  const number = wire.smallVarint();
  if (number < 0 || wire.at !== end) return '';
  values.digits(number);
  return TYPES.int;
}

/** The tag of the last field that is known of the AnyValue that was entered, whose value is read next; 0 where there is none. */
function lastField(wire: ProtobufReader): number {
  const { end } = wire;
  let [last, at] = [0, end];
  while (wire.at < end) {
    const tag = wire.tag();
    if (KNOWN.has(tag)) [last, at] = [tag, wire.at];
    wire.skip(tag);
  }
  wire.seek(at, end);
  return last;
}

/** Writes the AnyValue that was entered, and goes to its end. */
function putValue(wire: ProtobufReader, to: ValueText, depth: number): void {
  const { end, bytes } = wire;
  const tag = lastField(wire);
  if (tag === STRING) {
    wire.enter();
    to.text(bytes, wire.at, wire.end);
  } else if (tag === INT) to.int(wire.int64Text());
  else if (tag === BOOL) to.boolean(wire.varint32() !== 0);
  else if (tag === DOUBLE) to.double(wire.double());
  else if (tag === BYTES) {
    wire.enter();
    to.binary(bytes.toString('base64', wire.at, wire.end));
  } else if (tag === 0) to.none();
  else putList(wire, to, tag === PAIRS, depth + 1);
  wire.seek(end, end);
}

/** Writes the ArrayValue or KeyValueList at which the reader stands. */
function putList(wire: ProtobufReader, to: ValueText, isPairs: boolean, depth: number): void {
  if (depth > MAX_DEPTH) to.isTooDeep = true;
  if (to.isTooDeep) return;
  wire.enter();
  const { end } = wire;
  let isFirst = true;
  if (isPairs) to.openPairs();
  else to.openArray();
  while (wire.at < end) {
    const tag = wire.tag();
    if (tag !== LIST_TAGS.values) {
      wire.skip(tag);
      continue;
    }
    const outer = wire.enter();
    if (isPairs) putPair(wire, to, isFirst, depth);
    else {
      if (!isFirst) to.ascii(',');
      putValue(wire, to, depth);
    }
    isFirst = false;
    wire.leave(outer);
  }
  if (isPairs) to.closePairs();
  else to.closeArray();
}

/** Writes the KeyValue that was entered, and goes to its end. */
export function putPair(wire: ProtobufReader, to: ValueText, isFirst: boolean, depth: number): void {
  const { end, bytes } = wire;
  findPair(wire);
  const { keyStart, keyEnd, valueStart, valueEnd } = pair;
  to.openPair(isFirst);
  to.string(bytes, keyStart, keyEnd);
  to.afterKey();
  if (valueStart < 0) to.none();
  else {
    wire.seek(valueStart, valueEnd);
    putValue(wire, to, depth);
  }
  to.closePair();
  wire.seek(end, end);
}

import type { ProtobufReader } from '../../wire/protobuf.ts';
import { Literal } from '../../core/entry.ts';
import { MAX_DEPTH, type Draft } from '../../logs/draft.ts';
import type { Name } from '../../logs/names.ts';
import { putValue, type Value } from '../../logs/values.ts';
import { ANY_VALUE_TAGS, KEY_VALUE_TAGS, LIST_TAGS } from './schema.ts';

/** Puts the KeyValue that was entered into the draft, its key behind `prefix`. One without a value is not a field. */
export function putKeyValue(wire: ProtobufReader, draft: Draft, prefix: string): void {
  const { bytes, end } = wire;
  let keyStart = wire.at;
  let keyEnd = wire.at;
  let valueStart = -1;
  let valueEnd = -1;
  while (wire.at < end) {
    const tag = wire.tag();
    if (tag === KEY_VALUE_TAGS.key) {
      const outer = wire.enter();
      keyStart = wire.at;
      keyEnd = wire.end;
      wire.leave(outer);
    } else if (tag === KEY_VALUE_TAGS.value) {
      const outer = wire.enter();
      valueStart = wire.at;
      valueEnd = wire.end;
      wire.leave(outer);
    } else wire.skip(tag);
  }
  if (valueStart < 0) return;
  const { names } = draft;
  const name = prefix === '' ? names.ofBytes(bytes, keyStart, keyEnd) : names.of(prefix + bytes.toString('utf8', keyStart, keyEnd));
  wire.seek(valueStart, valueEnd);
  putAnyValue(wire, draft, name);
  wire.seek(end, end);
}

/** Puts the AnyValue that was entered into the draft; a list of pairs is flattened. The last of its fields counts. */
export function putAnyValue(wire: ProtobufReader, draft: Draft, name: Name): void {
  while (wire.at < wire.end) {
    const tag = wire.tag();
    if (tag === ANY_VALUE_TAGS.stringValue) putText(wire, draft, name);
    else if (tag === ANY_VALUE_TAGS.intValue) draft.putLiteral(name, wire.int64Text());
    else {
      const value = readField(wire, draft, tag, 1);
      if (value !== undefined) putValue(draft, name, value);
    }
  }
}

/** Puts in the string at which the reader stands. */
export function putText(wire: ProtobufReader, draft: Draft, name: Name): void {
  const outer = wire.enter();
  draft.putText(name, wire.bytes, wire.at, wire.end);
  wire.leave(outer);
}

/** The AnyValue that was entered, in memory. One nested too deep refuses the draft's entry. */
export function readAnyValue(wire: ProtobufReader, draft: Draft, depth = 1): Value {
  let value: Value;
  while (wire.at < wire.end) value = readField(wire, draft, wire.tag(), depth) ?? value;
  return value;
}

/** A field of an AnyValue; undefined for one that is not known. */
function readField(wire: ProtobufReader, draft: Draft, tag: number, depth: number): Value {
  switch (tag) {
    case ANY_VALUE_TAGS.stringValue:
      return readText(wire, 'utf8');
    case ANY_VALUE_TAGS.boolValue:
      return wire.varint32() !== 0;
    case ANY_VALUE_TAGS.intValue:
      return new Literal(wire.int64Text());
    case ANY_VALUE_TAGS.doubleValue:
      return wire.double();
    case ANY_VALUE_TAGS.arrayValue:
      return readList(wire, draft, depth + 1);
    case ANY_VALUE_TAGS.kvlistValue:
      return readPairs(wire, draft, depth + 1);
    case ANY_VALUE_TAGS.bytesValue:
      return readText(wire, 'base64');
    default:
      wire.skip(tag);
      return undefined;
  }
}

function readText(wire: ProtobufReader, encoding: 'utf8' | 'base64'): string {
  const outer = wire.enter();
  const text = wire.bytes.toString(encoding, wire.at, wire.end);
  wire.leave(outer);
  return text;
}

function readList(wire: ProtobufReader, draft: Draft, depth: number): readonly Value[] {
  const items: Value[] = [];
  eachValue(wire, draft, depth, () => items.push(readAnyValue(wire, draft, depth)));
  return items;
}

function readPairs(wire: ProtobufReader, draft: Draft, depth: number): ReadonlyMap<string, Value> {
  const members = new Map<string, Value>();
  eachValue(wire, draft, depth, () => {
    let key = '';
    let value: Value;
    while (wire.at < wire.end) {
      const tag = wire.tag();
      if (tag === KEY_VALUE_TAGS.key) key = readText(wire, 'utf8');
      else if (tag === KEY_VALUE_TAGS.value) {
        const outer = wire.enter();
        value = readAnyValue(wire, draft, depth);
        wire.leave(outer);
      } else wire.skip(tag);
    }
    members.set(key, value);
  });
  return members;
}

/** Enters each value of the ArrayValue or KeyValueList at which the reader stands; deeper than an entry may be nested, none. */
function eachValue(wire: ProtobufReader, draft: Draft, depth: number, read: () => void): void {
  const outer = wire.enter();
  if (depth <= MAX_DEPTH) eachField(wire, LIST_TAGS.values, read);
  else draft.refuse(`nested deeper than ${String(MAX_DEPTH)} levels`);
  wire.leave(outer);
}

/** Enters each field of this tag in the message that was entered. */
export function eachField(wire: ProtobufReader, wanted: number, read: () => void): void {
  while (wire.at < wire.end) {
    const tag = wire.tag();
    if (tag !== wanted) wire.skip(tag);
    else {
      const outer = wire.enter();
      read();
      wire.leave(outer);
    }
  }
}

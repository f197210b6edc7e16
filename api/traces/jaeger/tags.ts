import { anyValueOf, type AnyValue, type KeyValue } from '../any-value.ts';
import type { Attributes } from '../stored-span.ts';

/** A tag of Jaeger: a name, and a value with its type. */
export type JaegerTag = { readonly key: string; readonly type: string; readonly value: string | number | boolean };

/** Attributes as Jaeger's tags, by their names. */
export const tagsOf = ({ pairs, types }: Attributes): JaegerTag[] =>
  sorted(pairs.map(([key, value], index) => tagOf(key, anyValueOf(value, types[index] ?? 's'))));

/** The same of OTLP's list of KeyValue. */
export const tagsOfList = (list: readonly KeyValue[]): JaegerTag[] => sorted(list.map(({ key, value }) => tagOf(key, value ?? {})));

const sorted = (tags: JaegerTag[]): JaegerTag[] => tags.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));

/** A tag whose value is a string. */
export const textTag = (key: string, value: string): JaegerTag => ({ key, type: 'string', value });

/** A value as the collector's translator turns it into Jaeger's, and Jaeger into JSON: integers that JavaScript has not are strings. */
function tagOf(key: string, value: AnyValue): JaegerTag {
  if (value.boolValue !== undefined) return { key, type: 'bool', value: value.boolValue };
  if (value.intValue !== undefined) {
    const number = Number(value.intValue);
    return { key, type: 'int64', value: Number.isSafeInteger(number) ? number : String(value.intValue) };
  }
  if (value.doubleValue !== undefined) return { key, type: 'float64', value: value.doubleValue };
  if (value.bytesValue !== undefined) return { key, type: 'binary', value: value.bytesValue };
  if (value.arrayValue !== undefined || value.kvlistValue !== undefined) return textTag(key, goJson(value));
  return textTag(key, value.stringValue ?? '');
}

/** An array or a list of pairs as Go writes them in JSON: names in order, integers of any size, and no signs of HTML. */
function goJson(value: AnyValue): string {
  if (value.arrayValue !== undefined) return `[${(value.arrayValue.values ?? []).map(goJson).join(',')}]`;
  if (value.kvlistValue !== undefined) {
    const members = new Map((value.kvlistValue.values ?? []).map(({ key, value: own }) => [key, own ?? {}]));
    return `{${[...members.keys()].sort().map((key) => `${goString(key)}:${goJson(members.get(key) ?? {})}`).join(',')}}`; // prettier-ignore
  }
  if (value.stringValue !== undefined) return goString(value.stringValue);
  if (value.bytesValue !== undefined) return goString(value.bytesValue);
  if (value.boolValue !== undefined) return String(value.boolValue);
  if (value.intValue !== undefined) return String(value.intValue);
  return value.doubleValue === undefined ? 'null' : String(value.doubleValue);
}

const goString = (text: string): string =>
  JSON.stringify(text).replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

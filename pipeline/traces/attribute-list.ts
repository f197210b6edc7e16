import { isUtf8 } from 'node:buffer';
import { StringColumn } from '../rows/string-column.ts';
import { JsonText } from '../wire/json-text.ts';
import { TYPES } from './span.ts';

/** Most attributes of a span, of a resource, of an event and of a link. */
export const MAX_ATTRIBUTES = 1000;
/** Shorter strings are looked at byte by byte. */
const SHORT = 64;

/**
 * Attributes in their order, until they become a row: each its key, where it lies, its value as text, and the type of that. Memory is kept when
 * it is cleared.
 */
export class AttributeList {
  count = 0;
  /** Values, and where each begins and ends; they are added in their order, and then `add` is called. */
  readonly values = new StringColumn(4096);
  readonly valueStarts = new Uint32Array(MAX_ATTRIBUTES);
  readonly valueEnds = new Uint32Array(MAX_ATTRIBUTES);
  readonly keySources: Buffer[] = [];
  readonly keyStarts = new Uint32Array(MAX_ATTRIBUTES);
  readonly keyEnds = new Uint32Array(MAX_ATTRIBUTES);
  /** A character of TYPES for each. */
  readonly types = Buffer.alloc(MAX_ATTRIBUTES);
  /** Keys that are not in the body as they are. */
  readonly #keys = new StringColumn(1024);

  clear(): void {
    this.count = 0;
    this.values.clear();
    this.#keys.clear();
    this.keySources.length = 0;
  }

  /** Whether another one may be added. */
  get isFull(): boolean {
    return this.count === MAX_ATTRIBUTES;
  }

  /** Bytes of the longest key. */
  get longestKey(): number {
    let longest = 0;
    for (let index = 0; index < this.count; index++)
      longest = Math.max(longest, (this.keyEnds[index] as number) - (this.keyStarts[index] as number));
    return longest;
  }

  /** Adds the attribute whose key's UTF-8 is `source[start..end)`, and whose value was added to `values` last. */
  add(source: Buffer, start: number, end: number, type: string): void {
    const { count } = this;
    this.keySources[count] = source;
    this.keyStarts[count] = start;
    this.keyEnds[count] = end;
    this.valueStarts[count] = this.values.lastStart;
    this.valueEnds[count] = this.values.length;
    this.types[count] = type.charCodeAt(0);
    this.count = count + 1;
  }

  /** The same of a key that is a string. */
  addNamed(key: string, type: string): void {
    this.#keys.text(key);
    this.add(this.#keys.bytes, this.#keys.lastStart, this.#keys.length, type);
  }

  /** Adds an attribute whose value is a string. */
  addText(key: string, value: string, type: string = TYPES.string): void {
    this.values.text(value);
    this.addNamed(key, type);
  }

  /** The index of the first string of this key, or -1. */
  find(key: Buffer): number {
    for (let index = 0; index < this.count; index++) {
      const [start, end] = [this.keyStarts[index] as number, this.keyEnds[index] as number];
      if (end - start === key.length && (this.keySources[index] as Buffer).compare(key, 0, key.length, start, end) === 0) return index;
    }
    return -1;
  }

  /** Writes them as a JSON object of strings. */
  json(to: JsonText): void {
    for (let index = 0; index < this.count; index++) {
      to.ascii(index === 0 ? '{' : ',');
      to.string(this.keySources[index] as Buffer, this.keyStarts[index] as number, this.keyEnds[index] as number);
      to.ascii(':');
      to.string(this.values.bytes, this.valueStarts[index] as number, this.valueEnds[index] as number);
    }
    if (this.count > 0) to.ascii('}');
  }
}

/** Adds the string whose UTF-8 is `source[start..end)`; what is no UTF-8 becomes U+FFFD. */
export function putUtf8(to: StringColumn, source: Buffer, start: number, end: number): void {
  if (end - start <= SHORT && to.ascii(source, start, end)) return;
  if (isWellFormed(source, start, end)) to.raw(source, start, end);
  else to.text(source.toString('utf8', start, end));
}

function isWellFormed(source: Buffer, start: number, end: number): boolean {
  if (end - start > SHORT) return isUtf8(source.subarray(start, end));
  let all = 0;
  for (let at = start; at < end; at++) all |= source[at] as number;
  return all < 0x80 || isUtf8(source.subarray(start, end));
}

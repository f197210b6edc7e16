/** JSON as pipes read and write it: objects flattened to fields with dots, numbers as they were written. Read once, from left to right. */
import { checkParts } from './memory.ts';

/** Escapes `'` and `<` too, as VictoriaLogs does in the JSON and quoted strings that its pipes make. */
export const quoteJson = (text: string): string => JSON.stringify(text).replaceAll("'", '\\u0027').replaceAll('<', '\\u003c');

/** Deepest nesting of objects and arrays; deeper JSON is not valid to pipes, as in VictoriaLogs. */
const MAX_DEPTH = 300;

/** A number, `true`, `false` or `null` as it was written. */
class Scalar {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}
type Value = string | Scalar | readonly Value[] | ReadonlyMap<string, Value>;

/** The string is not valid JSON, or nests too deep. */
class NoJson extends Error {}

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y;
/** The characters of a string up to its end, to an escape or to a control character, which no string holds raw. */
const PLAIN = new RegExp(`[^"\\\\${String.fromCharCode(0)}-${String.fromCharCode(31)}]*`, 'y');

class Reader {
  readonly #text: string;
  #at = 0;
  #values = 0;
  constructor(text: string) {
    this.#text = text;
  }

  /** The whole string as one value. */
  document(): Value {
    const value = this.#value(0);
    this.#skip(SPACE);
    if (this.#at < this.#text.length) throw new NoJson();
    return value;
  }

  #value(depth: number): Value {
    if (depth > MAX_DEPTH) throw new NoJson();
    this.#values += 1;
    checkParts(this.#values);
    this.#skip(SPACE);
    const first = this.#text[this.#at];
    if (first === '"') return this.#string();
    if (first === '{') return this.#object(depth);
    if (first === '[') return this.#array(depth);
    const text = this.#skip(SCALAR);
    if (text === '') throw new NoJson();
    return new Scalar(text);
  }
  #object(depth: number): ReadonlyMap<string, Value> {
    const fields = new Map<string, Value>();
    this.#list('}', () => {
      if (this.#text[this.#at] !== '"') throw new NoJson();
      const name = this.#string();
      this.#skip(SPACE);
      if (!this.#accept(':')) throw new NoJson();
      fields.set(name, this.#value(depth + 1));
    });
    return fields;
  }
  #array(depth: number): readonly Value[] {
    const parts: Value[] = [];
    this.#list(']', () => parts.push(this.#value(depth + 1)));
    return parts;
  }
  /** What stands between brackets, with commas between. */
  #list(close: string, read: () => void): void {
    this.#at += 1;
    this.#skip(SPACE);
    if (this.#accept(close)) return;
    do {
      this.#skip(SPACE);
      read();
      this.#skip(SPACE);
    } while (this.#accept(','));
    if (!this.#accept(close)) throw new NoJson();
  }
  #string(): string {
    const start = this.#at;
    this.#at += 1;
    for (;;) {
      this.#skip(PLAIN);
      if (this.#accept('"')) break;
      if (!this.#accept('\\')) throw new NoJson();
      this.#at += 1;
    }
    const raw = this.#text.slice(start, this.#at);
    return raw.includes('\\') ? unescape(raw) : raw.slice(1, -1);
  }
  #accept(mark: string): boolean {
    const found = this.#text[this.#at] === mark;
    if (found) this.#at += 1;
    return found;
  }
  #skip(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const text = pattern.exec(this.#text)?.[0] ?? '';
    this.#at += text.length;
    return text;
  }
}

/** A string of JSON without its quotes and escapes. */
function unescape(raw: string): string {
  try {
    return JSON.parse(raw) as string;
  } catch {
    throw new NoJson();
  }
}

/** The value of a JSON string; null when it is not valid JSON. */
function parseJson(text: string): Value | null {
  try {
    return new Reader(text).document();
  } catch (error) {
    if (error instanceof NoJson) return null;
    throw error;
  }
}

/** The string of a value: strings unchanged, the rest as JSON. */
const textOfValue = (value: Value): string => (typeof value === 'string' ? value : render(value));

function render(value: Value): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof Scalar) return value.text;
  if (value instanceof Map)
    return `{${[...(value as ReadonlyMap<string, Value>)].map(([key, part]) => `${JSON.stringify(key)}:${render(part)}`).join(',')}}`;
  return `[${(value as readonly Value[]).map(render).join(',')}]`;
}

/**
 * The fields of a JSON object: nested ones with dots, arrays as JSON strings, without those that are null. Empty where the string begins
 * like an object and is not a valid one; null where it does not begin so.
 */
export function flattenJson(text: string): ReadonlyMap<string, string> | null {
  if (!text.startsWith('{')) return null;
  const value = parseJson(text);
  const fields = new Map<string, string>();
  if (!(value instanceof Map)) return fields;
  const add = (object: ReadonlyMap<string, Value>, prefix: string): void => {
    for (const [key, part] of object)
      if (part instanceof Map) add(part as ReadonlyMap<string, Value>, `${prefix}${key}.`);
      else if (!(part instanceof Scalar && part.text === 'null')) fields.set(prefix + key, textOfValue(part));
  };
  add(value as ReadonlyMap<string, Value>, '');
  return fields;
}

/** The strings of the parts of a JSON array, which white space may stand before; null when the string is not a valid one. */
export function splitJsonArray(text: string): readonly string[] | null {
  if (!/^[ \t\n\r]*\[/.test(text)) return null;
  const value = parseJson(text);
  return Array.isArray(value) ? (value as readonly Value[]).map(textOfValue) : null;
}

import type { Attributes } from './stored-span.ts';

/** AnyValue of OTLP (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding): one member, or none for no value. */
export type AnyValue = {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  /** Digits; some clients write a number. */
  readonly intValue?: string | number;
  /** NaN and infinities are strings. */
  readonly doubleValue?: number | string;
  readonly bytesValue?: string;
  readonly arrayValue?: { readonly values?: readonly AnyValue[] };
  readonly kvlistValue?: { readonly values?: readonly KeyValue[] };
};
export type KeyValue = { readonly key: string; readonly value?: AnyValue };

const NOT_FINITE: ReadonlySet<string> = new Set(['NaN', 'Infinity', '-Infinity']);

/** The value of a stored attribute as OTLP's JSON, by the character of its type (docs/topics.md). */
function anyValueJson(value: string, type: string): string {
  switch (type) {
    case 'b':
      return `{"boolValue":${value === 'true' ? 'true' : 'false'}}`;
    case 'i':
      return `{"intValue":${JSON.stringify(value)}}`;
    case 'd':
      return `{"doubleValue":${NOT_FINITE.has(value) ? `"${value}"` : numberJson(value)}}`;
    case 'y':
      return `{"bytesValue":${JSON.stringify(value)}}`;
    case 'v':
      return plainJson(value);
    case 'o':
      return isJson(value) ? value : '{}';
    case 'n':
      return '{}';
    default:
      return `{"stringValue":${JSON.stringify(value)}}`;
  }
}

/** The same, read. */
export const anyValueOf = (value: string, type: string): AnyValue => JSON.parse(anyValueJson(value, type)) as AnyValue;

/** Attributes as OTLP's list of KeyValue in JSON. */
export const attributesJson = ({ pairs, types }: Attributes): string =>
  `[${pairs.map(([key, value], index) => `{"key":${JSON.stringify(key)},"value":${anyValueJson(value, types[index] ?? 's')}}`).join(',')}]`;

/** A number that JSON takes as it is. */
const numberJson = (text: string): string => (Number.isFinite(Number(text)) && text.trim() !== '' ? String(Number(text)) : '0');

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A token of JSON: a string, what opens and closes, a number, or a word. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}:,]|-?\d[\d.eE+-]*|true|false|null/gs;

/** What is open: an array, or a list of pairs. */
type Open = 'array' | 'pairs';

/** Plain JSON as OTLP's: numbers with a point or an exponent are doubles, the others integers of any size. It is read token by token. */
function plainJson(text: string): string {
  if (!isJson(text)) return '{}';
  const open: Open[] = [];
  let [out, isKey] = ['', false];
  // a value in a list of pairs is the end of its pair
  const ended = (): string => (open.at(-1) === 'pairs' ? '}' : '');
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === '[' || token === '{') {
      open.push(token === '[' ? 'array' : 'pairs');
      out += token === '[' ? '{"arrayValue":{"values":[' : '{"kvlistValue":{"values":[';
      isKey = token === '{';
    } else if (token === ']' || token === '}') {
      open.pop();
      out += `]}}${ended()}`;
    } else if (token === ',') {
      out += ',';
      isKey = open.at(-1) === 'pairs';
    } else if (token === ':') isKey = false;
    else if (isKey) out += `{"key":${token},"value":`;
    else out += scalarJson(token) + ended();
  }
  return out;
}

function scalarJson(token: string): string {
  if (token.startsWith('"')) return `{"stringValue":${token}}`;
  if (token === 'null') return '{}';
  if (token === 'true' || token === 'false') return `{"boolValue":${token}}`;
  return /[.eE]/.test(token) ? `{"doubleValue":${token}}` : `{"intValue":"${token}"}`;
}

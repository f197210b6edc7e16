import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { join, sql, text as bound, type Sql } from '../../pipeline/core/sql.ts';
import { foldCase } from '../values/fold.ts';
import { momentText } from '../values/times.ts';
import { quoteJson } from '../base/json.ts';
import { formatDuration, formatFloat, formatIpv4, parseDuration, parseInteger, parseUint } from '../values/numbers.ts';
import { MAX_VALUE_BYTES } from '../base/memory.ts';
import { quote } from '../base/reserved.ts';
import type { Parser, Pipe, PipeSpec, RowInput } from '../base/types.ts';
import { fieldName } from '../base/arguments.ts';
import { ResultPipe, parseIf, parseResultOptions, printIf, printResultOptions, type ResultOptions } from './results.ts';
import { tooLong } from '../base/rows.ts';
import { patternHere, type PatternStep } from './steps.ts';

const urlEncode = (text: string): string =>
  encodeURIComponent(text)
    .replace(/[!'()*~]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');

/** Each `%` with two digits, and `+`; what is none of these stays. */
const urlDecode = (text: string): string =>
  text.replaceAll('+', ' ').replace(/(?:%[0-9a-fA-F]{2})+/g, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString());

/** The bytes of each pair of digits; pairs that are none stay, and a last odd character. */
function hexDecode(text: string): string {
  const bytes = Buffer.from(text);
  let size = 0;
  for (let at = 0; at < bytes.length; at += 2) {
    const pair = bytes.toString('latin1', at, at + 2);
    if (/^[0-9a-fA-F]{2}$/.test(pair)) size = bytes.writeUInt8(parseInt(pair, 16), size);
    else size += bytes.copy(bytes, size, at, at + 2);
  }
  return bytes.toString('utf8', 0, size);
}

/** Upper case, character by character: what would become several (`ß`) stays. */
function upperCase(text: string): string {
  let out = '';
  for (const char of text) {
    const upper = char.toUpperCase();
    out += Array.from(upper).length === 1 ? upper : char;
  }
  return out;
}

const isBase64 = (text: string): boolean => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
const whenNumber = (text: string, format: (value: bigint) => string): string => {
  const value = parseInteger(text);
  return value === null ? text : format(value);
};

/** What may stand before the colon in `<fn:field>`; a value that a function cannot take stays as it is. */
const FUNCTIONS: Readonly<Record<string, (text: string) => string>> = {
  q: quoteJson,
  uc: upperCase,
  lc: foldCase,
  urlencode: urlEncode,
  urldecode: urlDecode,
  hexencode: (text) => Buffer.from(text).toString('hex').toUpperCase(),
  hexdecode: hexDecode,
  base64encode: (text) => Buffer.from(text).toString('base64'),
  base64decode: (text) => (isBase64(text) ? Buffer.from(text, 'base64').toString() : text),
  hexnumencode: (text) => {
    const value = parseUint(text);
    return value === null ? text : value.toString(16).toUpperCase().padStart(16, '0');
  },
  hexnumdecode: (text) => (/^[0-9a-fA-F]{0,16}$/.test(text) ? BigInt(`0x0${text}`).toString() : text),
  time: (text) => {
    const ns = unixNanoseconds(text);
    return ns === null ? text : momentText(ns);
  },
  duration: (text) => whenNumber(text, (value) => formatDuration(Number(value))),
  duration_seconds: (text) => {
    const value = parseDuration(text);
    return value === null ? text : formatFloat(value / 1e9);
  },
  ipv4: (text) => {
    const value = parseUint(text);
    return value !== null && value < 1n << 32n ? formatIpv4(Number(value)) : text;
  },
};

/** Those of the functions that ClickHouse has. */
const SQL_FUNCTIONS: ReadonlyMap<string, (value: Sql) => Sql> = new Map([
  ['hexencode', (value: Sql) => sql`hex(${value})`],
  ['base64encode', (value: Sql) => sql`base64Encode(${value})`],
]);

/** Unix seconds, milliseconds, microseconds or nanoseconds, distinguished by size, whole or not, as nanoseconds; null for other strings. */
function unixNanoseconds(text: string): bigint | null {
  const [, whole = '', fraction = ''] = /^(-?[0-9_]+)(?:\.([0-9]+))?$/.exec(text) ?? [];
  const value = parseInteger(whole);
  if (value === null) return null;
  const size = value < 0n ? -value : value;
  const places = size < 1n << 32n ? 9 : size < (1n << 32n) * 1000n ? 6 : size < (1n << 32n) * 1_000_000n ? 3 : 0;
  const rest = BigInt(fraction.slice(0, places).padEnd(places, '0') || '0');
  return value * 10n ** BigInt(places) + (text.startsWith('-') ? -rest : rest);
}

/** `format "<a>: <uc:b>" as c`: a string made of fields. */
class FormatPipe extends ResultPipe {
  readonly results: readonly string[];
  readonly sources: readonly string[];
  readonly #pattern: string;
  readonly #steps: readonly PatternStep[];
  constructor(pattern: string, steps: readonly PatternStep[], to: string, options: ResultOptions) {
    super(options);
    this.#pattern = pattern;
    this.#steps = steps;
    this.results = [to];
    this.sources = steps.map(({ field }) => field).filter((field) => field !== '');
  }
  withOptions(options: ResultOptions): Pipe {
    return new FormatPipe(this.#pattern, this.#steps, this.results[0] ?? '', options);
  }
  toString(): string {
    const [to = ''] = this.results;
    return `format${printIf(this.options.condition)} ${JSON.stringify(this.#pattern)}${to === '_msg' ? '' : ` as ${quote(to)}`}${printResultOptions(this.options)}`;
  }
  override expressions(input: RowInput): readonly (readonly [string, Sql])[] | null {
    const parts: Sql[] = [sql`''`];
    for (const { text, field, option } of this.#steps) {
      if (text !== '') parts.push(sql`${bound(text)}`);
      if (field === '') continue;
      const value = input.text(field);
      const encode = Object.hasOwn(FUNCTIONS, option) ? SQL_FUNCTIONS.get(option) : (text: Sql): Sql => text;
      if (value === null || encode === undefined) return null;
      parts.push(encode(value));
    }
    return [[this.results[0] ?? '', sql`concat(${join([...parts, sql`''`], sql`, `)})`]];
  }
  compute(row: LogEntry): readonly (readonly [string, string])[] {
    let out = '';
    for (const { text, field, option } of this.#steps) {
      out += text;
      if (field === '') continue;
      const value = textOf(row.get(field));
      out += Object.hasOwn(FUNCTIONS, option) ? (FUNCTIONS[option]?.(value) ?? '') : value;
      if (out.length > MAX_VALUE_BYTES) throw tooLong(this.who, 'a value', MAX_VALUE_BYTES);
    }
    return [[this.results[0] ?? '', out]];
  }
}

function parseFormat(parser: Parser): Pipe {
  const { lexer } = parser;
  lexer.next();
  const condition = parseIf(parser);
  const { pattern, steps } = patternHere(parser);
  const to = lexer.accept('as') ? fieldName(lexer) : '_msg';
  return new FormatPipe(pattern, steps, to, parseResultOptions(parser, condition));
}

export const format: PipeSpec = {
  names: ['format'],
  examples: [
    { query: '* | format "<uc:a> took <duration:n>" as m | fields m', input: [{ a: 'x', n: 1500 }], output: [{ m: 'X took 1µs500ns' }] },
    {
      query: '* | format "<uc:a> <lc:a> <urldecode:b>|<hexdecode:c>|<hexnumdecode:d>" as m | fields m',
      input: [{ a: 'Straße ΟΔΟΣ İ', b: 'a%20b+c%zz%d0%b8', c: '6ag1z' }],
      output: [{ m: 'STRAßE ΟΔΟΣ İ straße οδοσ i a b c%zzи|jg1z|0' }],
    },
    {
      query: '* | format "<time:a> <time:b> <ipv4:c> <ipv4:d> <urlencode:e> &#60;&#x3e;" as m | fields m',
      input: [{ a: '1763460000.125', b: '-1.5', c: '1.0', d: 16909060, e: 'a~b' }],
      output: [{ m: '2025-11-18T10:00:00.125Z 1969-12-31T23:59:58.5Z 1.0 1.2.3.4 a%7Eb <>' }],
    },
    {
      query: '* | format "<a>:<hexencode:b>" as m | uniq by (m) with hits',
      input: [{ a: 'x', b: 'ä' }, { a: 'x', b: 'ä' }, { b: 'z' }],
      output: [
        { m: ':7A', hits: 1 },
        { m: 'x:C3A4', hits: 2 },
      ],
    },
    { query: '* | format "{<q:a>}" as m | fields m', input: [{ a: 'say "hi"' }], output: [{ m: '{"say \\"hi\\""}' }] },
  ],
  parse: parseFormat,
};

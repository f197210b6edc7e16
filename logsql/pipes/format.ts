import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { momentText } from '../times.ts';
import { quoteJson } from '../json.ts';
import { formatDuration, formatFloat, formatIpv4, parseDecimal, parseDuration, parseInteger, parseUint } from '../numbers.ts';
import { quote } from '../reserved.ts';
import type { Parser, Pipe, PipeSpec } from '../types.ts';
import { fieldName } from './arguments.ts';
import { ResultPipe, parseIf, parseResultOptions, printIf, printResultOptions, type ResultOptions } from './results.ts';
import { patternHere, type PatternStep } from './steps.ts';

const urlEncode = (text: string): string =>
  encodeURIComponent(text)
    .replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');

function urlDecode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

const isHex = (text: string): boolean => text.length % 2 === 0 && /^[0-9a-fA-F]*$/.test(text);
const isBase64 = (text: string): boolean => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
const whenNumber = (text: string, format: (value: bigint) => string): string => {
  const value = parseInteger(text);
  return value === null ? text : format(value);
};

/** What may stand before the colon in `<fn:field>`; a value that a function cannot take stays as it is. */
const FUNCTIONS: Readonly<Record<string, (text: string) => string>> = {
  q: quoteJson,
  uc: (text) => text.toUpperCase(),
  lc: (text) => text.toLowerCase(),
  urlencode: urlEncode,
  urldecode: urlDecode,
  hexencode: (text) => Buffer.from(text).toString('hex').toUpperCase(),
  hexdecode: (text) => (isHex(text) ? Buffer.from(text, 'hex').toString() : text),
  base64encode: (text) => Buffer.from(text).toString('base64'),
  base64decode: (text) => (isBase64(text) ? Buffer.from(text, 'base64').toString() : text),
  hexnumencode: (text) => {
    const value = parseUint(text);
    return value === null ? text : value.toString(16).toUpperCase().padStart(16, '0');
  },
  hexnumdecode: (text) => (/^[0-9a-fA-F]{1,16}$/.test(text) ? BigInt(`0x${text}`).toString() : text),
  time: (text) => whenNumber(text, (value) => momentText(unixNanoseconds(value))),
  duration: (text) => whenNumber(text, (value) => formatDuration(Number(value))),
  duration_seconds: (text) => {
    const value = parseDuration(text);
    return value === null ? text : formatFloat(value / 1e9);
  },
  ipv4: (text) => {
    const value = parseDecimal(text);
    return value !== null && Number.isInteger(value) && value >= 0 && value < 2 ** 32 ? formatIpv4(value) : text;
  },
};

/** Unix seconds, milliseconds, microseconds or nanoseconds, told apart by size, as nanoseconds. */
function unixNanoseconds(value: bigint): bigint {
  const size = value < 0n ? -value : value;
  if (size < 1n << 32n) return value * 1_000_000_000n;
  return size < (1n << 32n) * 1000n ? value * 1_000_000n : size < (1n << 32n) * 1_000_000n ? value * 1000n : value;
}

/** `format "<a>: <uc:b>" as c`: a text made of fields. */
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
  compute(row: LogEntry): readonly (readonly [string, string])[] {
    let out = '';
    for (const { text, field, option } of this.#steps) {
      out += text;
      if (field === '') continue;
      const value = textOf(row.get(field));
      out += Object.hasOwn(FUNCTIONS, option) ? (FUNCTIONS[option]?.(value) ?? '') : value;
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
    { query: '* | format "{<q:a>}" as m | fields m', input: [{ a: 'say "hi"' }], output: [{ m: '{"say \\"hi\\""}' }] },
  ],
  parse: parseFormat,
};

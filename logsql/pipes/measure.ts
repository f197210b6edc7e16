/** Pipes that work out one number from one field: `len(f) as n`, `hash(f) as n`, `json_array_len(f) as n`. */
import { Literal, textOf, type FieldValue, type LogEntry } from '../../pipeline/core/entry.ts';
import { sql, type Sql } from '../../pipeline/core/sql.ts';
import { splitJsonArray } from '../base/json.ts';
import { quote } from '../base/reserved.ts';
import type { Parser, Pipe, PipeSpec, RowInput } from '../base/types.ts';
import { hashText } from '../values/hash.ts';
import { fieldName, namesInParens } from '../base/arguments.ts';
import { NO_OPTIONS, ResultPipe } from './results.ts';

/** What is measured of a string, as a whole number, and the same in SQL. */
type Measure = { readonly of: (text: string) => string; readonly sql: ((value: Sql) => Sql) | null };

class MeasurePipe extends ResultPipe {
  readonly results: readonly string[];
  readonly sources: readonly string[];
  readonly #name: string;
  readonly #measure: Measure;
  constructor(name: string, from: string, to: string, measure: Measure) {
    super(NO_OPTIONS);
    this.#name = name;
    this.#measure = measure;
    this.sources = [from];
    this.results = [to];
  }
  withOptions(): Pipe {
    return this;
  }
  toString(): string {
    return `${this.#name}(${this.sources.map(quote).join('')}) as ${this.results.map(quote).join('')}`;
  }
  override expressions(input: RowInput): readonly (readonly [string, Sql])[] | null {
    const value = input.text(this.sources[0] ?? '');
    return value === null || this.#measure.sql === null ? null : [[this.results[0] ?? '', this.#measure.sql(value)]];
  }
  compute(row: LogEntry): readonly (readonly [string, FieldValue])[] {
    return [[this.results[0] ?? '', new Literal(this.#measure.of(textOf(row.get(this.sources[0] ?? ''))))]];
  }
}

function parseMeasure(parser: Parser, name: string, measure: Measure): Pipe {
  const { lexer } = parser;
  lexer.next();
  const [from, ...more] = lexer.is('(') ? namesInParens(lexer) : [fieldName(lexer)];
  if (from === undefined || more.length > 0) return lexer.fail(`expected ${name}() of one field`);
  lexer.accept('as');
  const to = lexer.is('|', ')', '') ? '_msg' : fieldName(lexer);
  return new MeasurePipe(name, from, to, measure);
}

/** Bytes of UTF-8, not characters. */
export const len: PipeSpec = {
  names: ['len'],
  examples: [{ query: '* | len(a) as n | fields n', input: [{ a: 'äb' }, { b: 1 }], output: [{ n: 3 }, { n: 0 }] }],
  parse: (parser) =>
    parseMeasure(parser, 'len', { of: (text) => String(Buffer.byteLength(text)), sql: (value) => sql`toString(length(${value}))` }),
};

/** 53 bits of XXH64, so that the number is exact everywhere. */
export const hash: PipeSpec = {
  names: ['hash'],
  examples: [{ query: '* | hash(a) as n | fields n', input: [{ a: 'checkout' }], output: [{ n: 1639038479608221 }] }],
  parse: (parser) =>
    parseMeasure(parser, 'hash', { of: hashText, sql: (value) => sql`toString(bitAnd(xxHash64(${value}), 9007199254740991))` }),
};

/** The parts of a JSON array; 0 for anything else. */
export const jsonArrayLen: PipeSpec = {
  names: ['json_array_len'],
  examples: [
    {
      query: '* | json_array_len(a) as n | fields n',
      input: [{ a: '[1,[2,3]]' }, { a: ' \n\t[1]' }, { a: 'x' }],
      output: [{ n: 2 }, { n: 1 }, { n: 0 }],
    },
  ],
  parse: (parser) => parseMeasure(parser, 'json_array_len', { of: (text) => String(splitJsonArray(text)?.length ?? 0), sql: null }),
};

/** Pipes that take fields out of a string which holds several: what `unpack_json`, `unpack_logfmt` and `unpack_syslog` share. */
import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { sql, type Sql } from '../../pipeline/core/sql.ts';
import { coversField } from '../base/fields.ts';
import { quotePattern } from '../base/reserved.ts';
import type { Parser, Pipe, RowInput } from '../base/types.ts';
import { atEnd, fieldName, namesInParens, printFrom } from '../base/arguments.ts';
import { ResultPipe, parseIf, parseResultOptions, printIf, printResultOptions, type ResultOptions } from './results.ts';

/** Takes a string apart; null when it is not of that form. */
export type Unpack = (text: string) => ReadonlyMap<string, string> | null;

/** The same in SQL: whether a string is of that form, and a field of those that are; null for a field that SQL cannot extract. */
export type UnpackSql = {
  readonly isForm: (text: Sql) => Sql;
  readonly field: (text: Sql, name: string, input: RowInput) => Sql | null;
};

type UnpackOptions = { readonly from: string; readonly fields: readonly string[]; readonly prefix: string; readonly extra: string };
type UnpackForm = { readonly unpack: Unpack; readonly sql?: UnpackSql };

class UnpackPipe extends ResultPipe {
  readonly results: readonly string[] | null;
  readonly sources: readonly string[];
  readonly #name: string;
  readonly #form: UnpackForm;
  readonly #how: UnpackOptions;
  constructor(name: string, form: UnpackForm, how: UnpackOptions, options: ResultOptions) {
    super(options);
    this.#name = name;
    this.#form = form;
    this.#how = how;
    this.sources = [how.from];
    this.results = null;
  }
  withOptions(options: ResultOptions): Pipe {
    return new UnpackPipe(this.#name, this.#form, this.#how, options);
  }
  override get dropsTime(): boolean {
    const { fields, prefix } = this.#how;
    return '_time'.startsWith(prefix) && (fields.length === 0 || coversField(fields, '_time'.slice(prefix.length)));
  }
  toString(): string {
    const { from, fields, prefix, extra } = this.#how;
    const list = fields.length === 0 ? '' : ` fields (${fields.map(quotePattern).join(', ')})`;
    return `${this.#name}${printIf(this.options.condition)}${printFrom(from)}${extra}${list}${prefix === '' ? '' : ` result_prefix ${JSON.stringify(prefix)}`}${printResultOptions(this.options)}`;
  }
  override expressions(input: RowInput): readonly (readonly [string, Sql])[] | null {
    const { from, fields, prefix } = this.#how;
    const form = this.#form.sql;
    const text = input.text(from);
    if (form === undefined || text === null || fields.length === 0) return null;
    const value = input.name(sql`toString(${text})`);
    const results: (readonly [string, Sql])[] = [];
    for (const name of new Set(fields)) {
      const found = name.endsWith('*') ? null : form.field(value, name, input);
      const original = input.text(prefix + name);
      if (found === null || original === null) return null;
      results.push([prefix + name, sql`if(${form.isForm(value)}, ${found}, ${original})`]);
    }
    return results;
  }
  *compute(row: LogEntry): Iterable<readonly [string, string]> {
    const { from, fields, prefix } = this.#how;
    const found = this.#form.unpack(textOf(row.get(from)));
    if (found === null) return;
    for (const [name, value] of found) if (fields.length === 0 || coversField(fields, name)) yield [prefix + name, value];
    for (const name of fields) if (!name.endsWith('*') && !found.has(name)) yield [prefix + name, ''];
  }
}

const RESULT_OPTIONS = ['keep_original_fields', 'skip_empty_results'];

/** Reads `name [if (…)] [[from] f] [fields (a, b*)] [result_prefix p] [keep_original_fields] [skip_empty_results]`. */
export function parseUnpack(parser: Parser, name: string, unpackWith: (parser: Parser) => UnpackForm & { readonly extra: string }): Pipe {
  const { lexer } = parser;
  lexer.next();
  const condition = parseIf(parser);
  const isNamed = lexer.accept('from') || !(atEnd(lexer) || lexer.is('offset', 'fields', 'result_prefix', ...RESULT_OPTIONS));
  const from = isNamed ? fieldName(lexer) : '_msg';
  const { extra, ...form } = unpackWith(parser);
  let [fields, prefix]: [readonly string[], string] = [[], ''];
  let options = parseResultOptions(parser, condition);
  for (;;) {
    if (lexer.accept('fields')) {
      const list = namesInParens(lexer);
      fields = list.includes('*') ? [] : list;
    } else if (lexer.accept('result_prefix')) prefix = lexer.compound('the prefix of the fields');
    else if (lexer.is(...RESULT_OPTIONS)) {
      const more = parseResultOptions(parser, condition);
      options = {
        condition,
        keepsOriginal: options.keepsOriginal || more.keepsOriginal,
        skipsEmpty: options.skipsEmpty || more.skipsEmpty,
      };
    } else return new UnpackPipe(name, form, { from, fields, prefix, extra }, options);
  }
}

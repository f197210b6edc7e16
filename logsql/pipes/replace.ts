import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { sql, text as bound, type Sql } from '../../pipeline/core/sql.ts';
import { MAX_VALUE_BYTES, type QueryMemory } from '../base/memory.ts';
import type { Regexp } from '../values/regexp.ts';
import { quote } from '../base/reserved.ts';
import type { Filter, Parser, Pipe, PipeSpec, RowInput } from '../base/types.ts';
import { count, fieldName } from '../base/arguments.ts';
import { ResultPipe, NO_OPTIONS, parseIf, printIf, type ResultOptions } from './results.ts';
import { tooLong } from '../base/rows.ts';

/** What stands for what, in which field, and how many times. */
type Change = { readonly name: string; readonly from: string; readonly to: string; readonly field: string; readonly limit: number };

/** `replace ("old", "new") [at f] [limit N]` and `replace_regexp`. */
class ReplacePipe extends ResultPipe {
  readonly results: readonly string[];
  readonly sources: readonly string[];
  readonly #change: Change;
  readonly #regexp: Regexp | null;
  constructor(change: Change, regexp: Regexp | null, options: ResultOptions) {
    super(options);
    this.#change = change;
    this.#regexp = regexp;
    this.results = [change.field];
    this.sources = [change.field];
  }
  withOptions(options: ResultOptions): Pipe {
    return new ReplacePipe(this.#change, this.#regexp, options);
  }
  toString(): string {
    const { name, from, to, field, limit } = this.#change;
    const at = field === '_msg' ? '' : ` at ${quote(field)}`;
    return `${name}${printIf(this.options.condition)} (${JSON.stringify(from)}, ${JSON.stringify(to)})${at}${limit === Infinity ? '' : ` limit ${String(limit)}`}`;
  }
  override expressions(input: RowInput): readonly (readonly [string, Sql])[] | null {
    const { from, to, field, limit } = this.#change;
    const value = input.text(field);
    if (value === null || this.#regexp !== null || (limit !== Infinity && limit !== 1)) return null;
    if (from === '') return [[field, value]];
    const replaced = sql`(${value}, ${bound(from)}, ${bound(to)})`;
    return [[field, limit === 1 ? sql`replaceOne${replaced}` : sql`replaceAll${replaced}`]];
  }
  compute(row: LogEntry, memory: QueryMemory): readonly (readonly [string, string])[] {
    const { from, to, field, limit } = this.#change;
    const text = textOf(row.get(field));
    const onPart = (length: number): void => {
      memory.step();
      if (length > MAX_VALUE_BYTES) throw tooLong(this.who, 'a value', MAX_VALUE_BYTES);
    };
    return [[field, this.#regexp === null ? replaceText(text, from, to, limit, onPart) : this.#regexp.replace(text, to, limit, onPart)]];
  }
}

/** `onPart` is given the length so far. */
function replaceText(text: string, from: string, to: string, limit: number, onPart: (length: number) => void): string {
  if (from === '') return text;
  let out = '';
  let at = 0;
  for (let done = 0; done < limit; done += 1) {
    const found = text.indexOf(from, at);
    if (found < 0) break;
    out += text.slice(at, found) + to;
    at = found + from.length;
    onPart(out.length);
  }
  return at === 0 ? text : out + text.slice(at);
}

function parseChange(parser: Parser, name: string): { readonly change: Change; readonly condition: Filter | null; readonly at: number } {
  const { lexer } = parser;
  lexer.next();
  const condition = parseIf(parser);
  lexer.expect('(');
  const at = lexer.save();
  const from = lexer.compound('what to replace');
  lexer.expect(',');
  const to = lexer.compound('the replacement');
  lexer.expect(')');
  const field = lexer.accept('at') ? fieldName(lexer) : '_msg';
  const limit = lexer.accept('limit') ? count(lexer, 'a number after "limit"') || Infinity : Infinity;
  return { change: { name, from, to, field, limit }, condition, at };
}

function parseRegexpReplace(parser: Parser): Pipe {
  const { change, condition, at } = parseChange(parser, 'replace_regexp');
  return new ReplacePipe(change, parser.regexp(change.from, at, 'pipe'), { ...NO_OPTIONS, condition });
}

export const replace: PipeSpec = {
  names: ['replace'],
  examples: [{ query: '* | replace ("a", "b") limit 1', input: [{ _msg: 'aaa' }], output: [{ _msg: 'baa' }] }],
  parse(parser) {
    const { change, condition } = parseChange(parser, 'replace');
    return new ReplacePipe(change, null, { ...NO_OPTIONS, condition });
  },
};

export const replaceRegexp: PipeSpec = {
  names: ['replace_regexp'],
  examples: [
    {
      query: '* | replace_regexp ("(\\\\w+)=(\\\\w+)", "$2=${1}") at f',
      input: [{ _msg: 'x', f: 'a=1, b=2' }],
      output: [{ _msg: 'x', f: '1=a, 2=b' }],
    },
  ],
  parse: parseRegexpReplace,
};

import type { Sql } from '../../pipeline/core/sql.ts';
import type { Regexp } from '../values/regexp.ts';
import { matchSql, onText } from '../sql/text.ts';
import type { Filter, FilterSpec, Parser, SqlContext } from '../base/types.ts';
import { exactArguments } from './arguments.ts';
import { AnyFilter, NotFilter } from './logic.ts';
import { PrefixFilter } from './phrase.ts';
import { TextFilter } from './text-filter.ts';

/** `f:~"re"`: RE2, anywhere in the value, case-sensitive unless it has `(?i)`; `.` matches a newline unless it has `(?-s)`. */
export class RegexpFilter extends TextFilter {
  readonly regexp: Regexp;
  constructor(field: string, regexp: Regexp) {
    super(field);
    this.regexp = regexp;
  }
  print(): string {
    return `~${JSON.stringify(this.regexp.source)}`;
  }
  accepts(value: string): boolean {
    return this.regexp.test(value);
  }
  protected textSql(context: SqlContext): Sql | null {
    return onText(this.field, context, (value) => matchSql(value, this.regexp.source));
  }
}

/** `~""` and `~".*"` match all, `~".+"` what is not empty. */
function make(parser: Parser, field: string, source: string, at: number): Filter {
  if (source === '' || source === '.*') return new AnyFilter();
  if (source === '.+') return new PrefixFilter(field === '' ? '_msg' : field, '');
  return new RegexpFilter(field, parser.regexp(source, at, 'filter'));
}

function parseTilde(parser: Parser, field: string): Filter {
  parser.lexer.next();
  const at = parser.lexer.save();
  return make(parser, field, parser.lexer.compound('a regexp'), at);
}

const INPUT = [{ _msg: 'took 15ms' }, { _msg: 'took long' }];
const LINES = [{ _msg: 'panic: x\n  at main.go' }];

export const matches: FilterSpec = {
  names: ['~', '=~'],
  kind: 'operator',
  examples: [
    { query: '~`\\d+ms`', input: INPUT, output: [{ _msg: 'took 15ms' }] },
    { query: '~`panic.*main`', input: LINES, output: LINES },
    { query: '~`(?-s)panic.*main`', input: LINES, output: [] },
  ],
  parse: parseTilde,
};

export const matchesNot: FilterSpec = {
  names: ['!~'],
  kind: 'operator',
  examples: [{ query: '!~`\\d+ms`', input: INPUT, output: [{ _msg: 'took long' }] }],
  parse: (parser, field) => new NotFilter(parseTilde(parser, field)),
};

export const re: FilterSpec = {
  names: ['re'],
  kind: 'function',
  examples: [{ query: 're("long$")', input: INPUT, output: [{ _msg: 'took long' }] }],
  parse(parser, field) {
    const at = parser.lexer.save();
    return make(parser, field, exactArguments(parser, 1)[0] ?? '', at);
  },
};

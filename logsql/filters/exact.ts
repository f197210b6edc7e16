import { sql, text, type Sql } from '../../pipeline/core/sql.ts';
import { quote } from '../base/reserved.ts';
import { TRUE, exactSql, onText } from '../sql/text.ts';
import type { Filter, FilterSpec, Parser, SqlContext } from '../base/types.ts';
import { maybePrefixArgument } from './arguments.ts';
import { NotFilter } from './logic.ts';
import { TextFilter } from './text-filter.ts';

/** `f:="v"`: the whole value, byte for byte. */
export class ExactFilter extends TextFilter {
  readonly value: string;
  constructor(field: string, value: string) {
    super(field);
    this.value = value;
  }
  print(): string {
    return `=${quote(this.value)}`;
  }
  accepts(value: string): boolean {
    return value === this.value;
  }
  protected textSql(context: SqlContext): Sql | null {
    return exactSql(this.field, this.value, context);
  }
}

/** `f:="v"*`: the value starts with v. */
export class ExactPrefixFilter extends TextFilter {
  readonly prefix: string;
  constructor(field: string, prefix: string) {
    super(field);
    this.prefix = prefix;
  }
  print(): string {
    return this.prefix === '' ? '=*' : `=${quote(this.prefix)}*`;
  }
  accepts(value: string): boolean {
    return value.startsWith(this.prefix);
  }
  protected textSql(context: SqlContext): Sql | null {
    return this.prefix === '' ? TRUE : onText(this.field, context, (value) => sql`startsWith(${value}, ${text(this.prefix)})`);
  }
}

function make(field: string, argument: string, isPrefix: boolean): Filter {
  return isPrefix ? new ExactPrefixFilter(field, argument) : new ExactFilter(field, argument);
}

/** Reads `=value` or `=value*` from the operator on. */
function parseEquals(parser: Parser, field: string): Filter {
  parser.lexer.next();
  const argument = parser.lexer.argument();
  const isPrefix = parser.lexer.is('*') && !parser.lexer.spaced;
  if (isPrefix) parser.lexer.next();
  return make(field, argument, isPrefix);
}

const INPUT = [{ _msg: 'a', level: 'error' }, { _msg: 'b', level: 'errors' }, { _msg: 'c' }];

export const equals: FilterSpec = {
  names: ['='],
  kind: 'operator',
  examples: [
    { query: 'level:=error', input: INPUT, output: [{ _msg: 'a', level: 'error' }] },
    {
      query: 'level:="err"*',
      input: INPUT,
      output: [
        { _msg: 'a', level: 'error' },
        { _msg: 'b', level: 'errors' },
      ],
    },
  ],
  parse: parseEquals,
};

export const notEquals: FilterSpec = {
  names: ['!='],
  kind: 'operator',
  examples: [{ query: 'level:!=error', input: INPUT, output: [{ _msg: 'b', level: 'errors' }, { _msg: 'c' }] }],
  parse: (parser, field) => new NotFilter(parseEquals(parser, field)),
};

export const exact: FilterSpec = {
  names: ['exact'],
  kind: 'function',
  examples: [{ query: 'level:exact("error")', input: INPUT, output: [{ _msg: 'a', level: 'error' }] }],
  parse(parser, field) {
    const { argument, isPrefix } = maybePrefixArgument(parser);
    return make(field, argument, isPrefix);
  },
};

import type { Sql } from '../../pipeline/core/sql.ts';
import { quote } from '../reserved.ts';
import { inSql } from '../sql/text.ts';
import type { Filter, FilterSpec, Parser, QueryNode, SqlContext, Subquery } from '../types.ts';
import { listArguments } from './arguments.ts';
import { AnyFilter } from './logic.ts';
import { TextFilter } from './text-filter.ts';

/** `f:in(a, "b c")`: the value is one of these; '' among them means missing. */
export class InFilter extends TextFilter {
  readonly values: readonly string[];
  readonly #set: ReadonlySet<string>;
  constructor(field: string, values: readonly string[]) {
    super(field);
    this.values = values;
    this.#set = new Set(values);
  }
  print(): string {
    return `in(${this.values.map((value) => (value === '' ? '""' : quote(value))).join(', ')})`;
  }
  accepts(value: string): boolean {
    return this.#set.has(value);
  }
  sql(context: SqlContext): Sql | null {
    return inSql(this.field, this.values, context);
  }
}

/** A filter whose values another query gives: `f:in(<query> | fields g)`. It must be resolved before it can be used. */
export class SubqueryFilter extends TextFilter {
  readonly subquery: Subquery;
  readonly #name: string;
  constructor(
    field: string,
    name: string,
    query: QueryNode,
    valueField: string,
    make: (field: string, values: readonly string[]) => Filter,
  ) {
    super(field);
    this.#name = name;
    this.subquery = { query, field: valueField, resolve: (values) => make(this.field, values) };
  }
  print(): string {
    return `${this.#name}(${this.subquery.query.toString()})`;
  }
  accepts(): boolean {
    throw new Error('BUG: a subquery was not resolved.');
  }
  sql(): Sql | null {
    throw new Error('BUG: a subquery was not resolved.');
  }
}

/** Reads `name(values)`, `name(*)` or `name(query)`, which must end in `fields` or `uniq by` of one field. */
export function parseValues(parser: Parser, field: string, make: (field: string, values: readonly string[]) => Filter): Filter {
  const { lexer } = parser;
  const name = lexer.token.toLowerCase();
  const at = lexer.save();
  try {
    const values = listArguments(parser);
    return values.length === 1 && values[0] === '*' ? new AnyFilter() : make(field, values);
  } catch (error) {
    lexer.restore(at);
    lexer.next();
    if (!looksLikeQuery(parser)) throw error;
    lexer.restore(at);
    lexer.next();
  }
  const query = parser.query();
  if (query.pipes.length === 0 && query.filter instanceof AnyFilter) return new AnyFilter();
  const valueField = query.pipes.at(-1)?.singleField;
  if (valueField === undefined) return lexer.fail(`expected the query in ${name}() to end in "fields" or "uniq by" of one field`);
  return new SubqueryFilter(field, name, query, valueField, make);
}

/** True when the parentheses hold a `|`, so that the fault of the query inside is the one to tell of. */
function looksLikeQuery(parser: Parser): boolean {
  const { lexer } = parser;
  for (let depth = 0; !lexer.isEnd; lexer.next()) {
    if (lexer.is('(')) depth += 1;
    if (lexer.is(')')) depth -= 1;
    if (depth <= 0) return false;
    if (depth === 1 && lexer.is('|')) return true;
  }
  return false;
}

export const oneOf: FilterSpec = {
  names: ['in'],
  kind: 'function',
  examples: [
    {
      query: 'level:in(error, fatal)',
      input: [
        { _msg: 'a', level: 'fatal' },
        { _msg: 'b', level: 'info' },
      ],
      output: [{ _msg: 'a', level: 'fatal' }],
    },
  ],
  parse: (parser, field) => parseValues(parser, field, (name, values) => new InFilter(name, values)),
};

import { sql, type Sql } from '../../pipeline/core/sql.ts';
import { quote } from '../base/reserved.ts';
import { fieldText, inSql } from '../sql/text.ts';
import type { Filter, FilterSpec, Parser, SqlContext, Subquery } from '../base/types.ts';
import { listArguments } from './arguments.ts';
import { AnyFilter } from './logic.ts';
import { TextFilter } from './text-filter.ts';

/** `f:in(a, "b c")`: the value is one of these; '' among them means missing. */
class InFilter extends TextFilter {
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
  protected textSql(context: SqlContext): Sql | null {
    return inSql(this.field, this.values, context);
  }
}

/** A filter of values: of those that are known, and where SQL can express it, of those that a SELECT gives. */
export type ValuesFilter = {
  readonly of: (field: string, values: readonly string[]) => Filter;
  readonly ofSelect?: (field: string, select: Sql, context: SqlContext) => Sql | null;
};

/**
 * A filter whose values another query gives: `f:in(<query> | fields g)`. It must be resolved before it can be used, or selected before its
 * SQL can.
 */
export class SubqueryFilter extends TextFilter {
  readonly subquery: Subquery;
  readonly #name: string;
  readonly #filter: ValuesFilter;
  constructor(field: string, name: string, query: Pick<Subquery, 'query' | 'field' | 'selected'>, filter: ValuesFilter) {
    super(field);
    this.#name = name;
    this.#filter = filter;
    const select = (selected: Sql): Filter => new SubqueryFilter(field, name, { ...query, selected }, filter);
    this.subquery = {
      ...query,
      name,
      resolve: (values) => filter.of(this.field, values),
      ...(filter.ofSelect === undefined ? {} : { select }),
    };
  }
  print(): string {
    return `${this.#name}(${this.subquery.query.toString()})`;
  }
  accepts(): boolean {
    throw new Error('BUG: a subquery was not resolved.');
  }
  /** Its values are not known: no word can be tried. */
  override sql(context: SqlContext): Sql | null {
    return this.textSql(context);
  }
  protected textSql(context: SqlContext): Sql | null {
    const { selected } = this.subquery;
    if (selected === undefined) throw new Error('BUG: a subquery was not resolved.');
    return this.#filter.ofSelect?.(this.field, selected, context) ?? null;
  }
}

/** Reads `name(values)`, `name(*)` or `name(query)`, which must end in `fields` or `uniq by` of one field. */
export function parseValues(parser: Parser, field: string, filter: ValuesFilter): Filter {
  const { lexer } = parser;
  const name = lexer.token.toLowerCase();
  const at = lexer.save();
  try {
    const values = listArguments(parser);
    return values.length === 1 && values[0] === '*' ? new AnyFilter() : filter.of(field, values);
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
  return new SubqueryFilter(field, name, { query, field: valueField }, filter);
}

/** True when the parentheses hold a `|`, so that the fault of the query inside is the one to report. */
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
  parse: (parser, field) =>
    parseValues(parser, field, {
      of: (name, values) => new InFilter(name, values),
      ofSelect: (name, select, context) => {
        const value = fieldText(name, context);
        return value === null ? null : sql`${value} IN (${select})`;
      },
    }),
};

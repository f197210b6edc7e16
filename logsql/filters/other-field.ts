/** Filters that compare a field with another one: `a:eq_field(b)`, `a:le_field(b)`, `a:lt_field(b)`. */
import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { sql, type Sql } from '../../pipeline/core/sql.ts';
import { compareExactly } from '../values/exact.ts';
import { numericValue } from '../values/numbers.ts';
import { compareBytes } from '../values/order.ts';
import { fieldPrefix, quote } from '../base/reserved.ts';
import { lessSql } from '../sql/exact.ts';
import { numericSql } from '../sql/number.ts';
import { fieldText } from '../sql/text.ts';
import type { Filter, FilterSpec, SqlContext } from '../base/types.ts';
import { exactArguments } from './arguments.ts';

type Comparison = 'eq_field' | 'le_field' | 'lt_field';

class OtherFieldFilter implements Filter {
  readonly fields: readonly string[];
  readonly #name: Comparison;
  readonly #field: string;
  readonly #other: string;
  constructor(name: Comparison, field: string, other: string) {
    this.#name = name;
    this.#field = field === '' ? '_msg' : field;
    this.#other = other === '' ? '_msg' : other;
    this.fields = [this.#field, this.#other];
  }
  toString(): string {
    return `${fieldPrefix(this.#field)}${this.#name}(${quote(this.#other)})`;
  }
  matches(entry: LogEntry): boolean {
    const a = textOf(entry.get(this.#field));
    const b = textOf(entry.get(this.#other));
    if (this.#name === 'eq_field') return a === b;
    const [x, y] = [numericValue(a), numericValue(b)];
    const order = Number.isNaN(x) || Number.isNaN(y) ? compareBytes(a, b) : compareExactly(a, x, b, y);
    return this.#name === 'le_field' ? order <= 0 : order < 0;
  }
  sql(context: SqlContext): Sql | null {
    const [a, b] = [fieldText(this.#field, context), fieldText(this.#other, context)];
    if (a === null || b === null) return null;
    if (this.#name === 'eq_field') return sql`${a} = ${b}`;
    const isEqual = this.#name === 'le_field';
    const byNumber = lessSql({ text: sql`v`, number: sql`x` }, { text: sql`w`, number: sql`y` }, isEqual);
    const isLess = sql`if(isNull(x) OR isNull(y), v ${isEqual ? sql`<=` : sql`<`} w, ${byNumber})`;
    // Named once, since each number is a long expression.
    return sql`arrayExists((x, y, v, w) -> ifNull(${isLess}, 0), [${numericSql(a)}], [${numericSql(b)}], [${a}], [${b}])`;
  }
}

const INPUT = [
  { _msg: '1', a: '9ms', b: '10ms' },
  { _msg: '2', a: 'x', b: 'x' },
  { _msg: '3', a: 2, b: 1 },
];

const spec = (name: Comparison, output: typeof INPUT): FilterSpec => ({
  names: [name],
  kind: 'function',
  examples: [{ query: `a:${name}(b)`, input: INPUT, output }],
  parse: (parser, field) => new OtherFieldFilter(name, field, exactArguments(parser, 1)[0] ?? ''),
});

/** Equal strings; two missing fields are equal. */
export const eqField = spec('eq_field', INPUT.slice(1, 2));
/** Numbers, sizes, durations, times and addresses by size where both are such, else by bytes. */
export const leField = spec('le_field', INPUT.slice(0, 2));
export const ltField = spec('lt_field', INPUT.slice(0, 1));

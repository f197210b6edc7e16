import { float64, sql, type Sql } from '../../pipeline/core/sql.ts';
import { parseCount } from '../base/arguments.ts';
import { and, onText } from '../sql/text.ts';
import type { FilterSpec, SqlContext } from '../base/types.ts';
import { exactArguments } from './arguments.ts';
import { TextFilter } from './text-filter.ts';

/** `f:len_range(5, inf)`: the value has that many characters (code points), both ends included. */
class LengthFilter extends TextFilter {
  readonly #min: number;
  readonly #max: number;
  readonly #written: string;
  constructor(field: string, min: number, max: number, written: string) {
    super(field);
    this.#min = min;
    this.#max = max;
    this.#written = written;
  }
  print(): string {
    return `len_range(${this.#written})`;
  }
  accepts(value: string): boolean {
    let length = 0;
    for (let at = 0; at < value.length; at += (value.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) length += 1;
    return length >= this.#min && length <= this.#max;
  }
  protected textSql(context: SqlContext): Sql | null {
    return onText(this.field, context, (value) =>
      and([
        sql`lengthUTF8(${value}) >= ${float64(this.#min)}`,
        ...(this.#max === Infinity ? [] : [sql`lengthUTF8(${value}) <= ${float64(this.#max)}`]),
      ]),
    );
  }
}

export const lengthRange: FilterSpec = {
  names: ['len_range'],
  kind: 'function',
  examples: [{ query: 'len_range(3, inf)', input: [{ _msg: 'ab' }, { _msg: 'äöü' }], output: [{ _msg: 'äöü' }] }],
  parse(parser, field) {
    const at = parser.lexer.save();
    const [min = '', max = ''] = exactArguments(parser, 2);
    const [from, to] = [parseCount(min), parseCount(max)];
    if (from !== null && to !== null) return new LengthFilter(field, from, to, `${min}, ${max}`);
    parser.lexer.restore(at);
    return parser.lexer.fail('expected len_range(min, max) with two numbers');
  },
};

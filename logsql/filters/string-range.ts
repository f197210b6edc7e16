import { sql, text, type Sql } from '../../pipeline/core/sql.ts';
import { compareBytes } from '../values/order.ts';
import { quote } from '../base/reserved.ts';
import { TRUE, and, onText } from '../sql/text.ts';
import type { FilterSpec, SqlContext } from '../base/types.ts';
import { exactArguments } from './arguments.ts';
import { TextFilter } from './text-filter.ts';

/** Values by the order of their bytes: `string_range(a, b)` is a ≤ value < b; also `f:>"x"` where x is not a number. Missing is ''. */
export class StringRangeFilter extends TextFilter {
  /** The smallest string inside; null when it has no lower end. */
  readonly min: string | null;
  /** The smallest string above; null when it has no upper end. */
  readonly below: string | null;
  readonly #written: string;
  constructor(field: string, min: string | null, below: string | null, written: string) {
    super(field);
    this.min = min;
    this.below = below;
    this.#written = written;
  }
  /** `>x`, `>=x`, `<x` or `<=x`: the next string after x is x and a NUL. */
  static comparison(field: string, operator: string, value: string): StringRangeFilter {
    const written = operator + quote(value);
    const edge = operator === '>' || operator === '<=' ? `${value}\0` : value;
    return operator.startsWith('>') ? new StringRangeFilter(field, edge, null, written) : new StringRangeFilter(field, null, edge, written);
  }
  print(): string {
    return this.#written;
  }
  accepts(value: string): boolean {
    return (this.min === null || compareBytes(value, this.min) >= 0) && (this.below === null || compareBytes(value, this.below) < 0);
  }
  protected textSql(context: SqlContext): Sql | null {
    return onText(this.field, context, (value) => {
      const conditions: Sql[] = [];
      if (this.min !== null && this.min !== '') conditions.push(sql`${value} >= ${text(this.min)}`);
      if (this.below !== null) conditions.push(sql`${value} < ${text(this.below)}`);
      return conditions.length === 0 ? TRUE : and(conditions);
    });
  }
}

export const stringRange: FilterSpec = {
  names: ['string_range'],
  kind: 'function',
  examples: [
    {
      query: 'user:string_range(a, c)',
      input: [
        { _msg: '1', user: 'bob' },
        { _msg: '2', user: 'carol' },
      ],
      output: [{ _msg: '1', user: 'bob' }],
    },
  ],
  parse(parser, field) {
    const [min = '', below = ''] = exactArguments(parser, 2);
    return new StringRangeFilter(field, min, below, `string_range(${quote(min)}, ${quote(below)})`);
  },
};

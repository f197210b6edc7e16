/** Numeric ranges: `f:>10`, `f:<=1h30m`, `f:range[1KiB, 2MB)`. Only values that are wholly a number, size, duration, time or IPv4 match. */
import { float64, sql, type Sql } from '../../pipeline/core/sql.ts';
import { exactValue } from '../values/exact.ts';
import { numericValue } from '../values/numbers.ts';
import { boundSql, exactSql, needsExact, plainExact } from '../sql/exact.ts';
import { numericSql } from '../sql/number.ts';
import { FALSE, and, onShortText, onText } from '../sql/text.ts';
import type { Filter, FilterSpec, Parser, SqlContext } from '../base/types.ts';
import { StringRangeFilter } from './string-range.ts';
import { TextFilter } from './text-filter.ts';

/** A number as a bound: its float, and where that does not tell it from others the number itself (logsql/values/exact.ts). */
type Bound = { readonly value: number; readonly steps: bigint | null };
/** The ends of a range, and whether they belong to it. */
type Bounds = { readonly min: Bound; readonly minIncluded: boolean; readonly max: Bound; readonly maxIncluded: boolean };

const LOWEST: Bound = { value: -Infinity, steps: null };
const HIGHEST: Bound = { value: Infinity, steps: null };

const NUMBER_TOKEN = /^[\p{L}\p{N}_.:+/-]+$/u;
/** A number as it was written. */
const printNumber = (text: string): string => (NUMBER_TOKEN.test(text) ? text : JSON.stringify(text));

class RangeFilter extends TextFilter {
  readonly #bounds: Bounds;
  readonly #written: string;
  constructor(field: string, bounds: Bounds, written: string) {
    super(field);
    // There is nothing between an infinite bound and its neighbour, so it always belongs to the range.
    this.#bounds = {
      ...bounds,
      minIncluded: bounds.minIncluded || !Number.isFinite(bounds.min.value),
      maxIncluded: bounds.maxIncluded || !Number.isFinite(bounds.max.value),
    };
    this.#written = written;
  }
  print(): string {
    return this.#written;
  }
  accepts(text: string): boolean {
    const { min, minIncluded, max, maxIncluded } = this.#bounds;
    const value = numericValue(text);
    const [above, below] = [orderTo(min, text, value), orderTo(max, text, value)];
    return (minIncluded ? above >= 0 : above > 0) && (maxIncluded ? below <= 0 : below < 0);
  }
  protected textSql(context: SqlContext): Sql | null {
    const { min, max } = this.#bounds;
    if (Number.isNaN(min.value) || Number.isNaN(max.value)) return FALSE;
    const number = context.computed?.(this.field) === undefined ? context.table.number(this.field) : undefined;
    if (number !== undefined) return and(this.#conditions(number, sql`toDecimal256(${number}, 20)`));
    const { doubt } = context;
    // what stands for a long value is in doubt, as all that is no number
    if (doubt !== undefined && this.#isPlain) return onShortText(this.field, context, (value) => this.#plainSql(value, doubt));
    return onText(this.field, context, (value) => {
      // The number is written once: ClickHouse would analyse each repetition for milliseconds.
      const conditions = this.#conditions(sql`n`, exactSql(sql`v`, sql`n`));
      const inRange = conditions.length === 0 ? sql`isNotNull(n)` : sql`ifNull(${and(conditions)}, 0)`;
      if (min.steps === null && max.steps === null) return sql`arrayExists(n -> ${inRange}, [${numericSql(value)}])`;
      return sql`arrayExists((n, v) -> ${inRange}, [${numericSql(value)}], [toString(${value})])`;
    });
  }
  /** Bounds without units: so are the values, mostly. */
  get #isPlain(): boolean {
    return /^(?:range|[<>]=?|)[-+0-9.,\s()[\]]+$/.test(this.#written) && !/\d\.\d+\./.test(this.#written);
  }
  /** Right for plain decimals and missing values: planned in a third of the time, and looked at in less. */
  #plainSql(value: Sql, doubt: (rows: Sql) => void): Sql {
    const number = sql`ifNull(toFloat64OrNull(${value}), nan)`;
    doubt(sql`(${value} != '' AND NOT isFinite(${number}))`);
    const conditions = this.#conditions(number, plainExact(value));
    return conditions.length === 0 ? sql`isFinite(${number})` : and(conditions);
  }
  /** What the number (Float64), or without rounding, must be. */
  #conditions(number: Sql, exact: Sql): readonly Sql[] {
    const { min, minIncluded, max, maxIncluded } = this.#bounds;
    const one = ({ value, steps }: Bound, sign: Sql): Sql => {
      const byFloat = sql`${number} ${sign} ${float64(value)}`;
      return steps === null ? byFloat : sql`ifNull(${exact} ${sign} ${boundSql(steps)}, ${byFloat})`;
    };
    return [
      ...(min.value === -Infinity ? [] : [one(min, minIncluded ? sql`>=` : sql`>`)]),
      ...(max.value === Infinity ? [] : [one(max, maxIncluded ? sql`<=` : sql`<`)]),
    ];
  }
}

/** Whether a value lies below (negative), at or above (positive) a bound; NaN for what is no number. */
function orderTo({ value, steps }: Bound, text: string, number: number): number {
  if (number !== value) return number < value ? -1 : number > value ? 1 : NaN;
  const own = steps === null ? null : exactValue(text, number);
  return steps === null || own === null || own === steps ? 0 : own < steps ? -1 : 1;
}

/** A number as a bound of a range; null when the string is not one. */
function boundOf(text: string): Bound | null {
  const value = numericValue(text);
  if (Number.isNaN(value) && text.toLowerCase() !== 'nan') return null;
  const steps = exactValue(text, value);
  return { value, steps: needsExact(steps, value) ? steps : null };
}

/** Reads `>x`, `>=x`, `<x`, `<=x` from the operator on: numeric where x is a number, else by bytes. */
function parseComparison(parser: Parser, field: string): Filter {
  const { lexer } = parser;
  const isGreater = lexer.next() === '>';
  const isIncluded = lexer.accept('=');
  const operator = (isGreater ? '>' : '<') + (isIncluded ? '=' : '');
  const text = lexer.compound('a value to compare with');
  const value = boundOf(text);
  if (value === null) return StringRangeFilter.comparison(field, operator, text);
  const bounds = isGreater
    ? { min: value, minIncluded: isIncluded, max: HIGHEST, maxIncluded: true }
    : { min: LOWEST, minIncluded: true, max: value, maxIncluded: isIncluded };
  return new RangeFilter(field, bounds, operator + printNumber(text));
}

const INPUT = [
  { _msg: 'a', took: '250ms' },
  { _msg: 'b', took: '1.5s' },
  { _msg: 'c', took: 'long' },
];

export const greater: FilterSpec = {
  names: ['>'],
  kind: 'operator',
  examples: [{ query: 'took:>1s', input: INPUT, output: [{ _msg: 'b', took: '1.5s' }] }],
  parse: parseComparison,
};

export const less: FilterSpec = {
  names: ['<'],
  kind: 'operator',
  examples: [{ query: 'took:<=250ms', input: INPUT, output: [{ _msg: 'a', took: '250ms' }] }],
  parse: parseComparison,
};

/** Reads `[min, max)` and its like, from the opening bracket on. */
function parseInterval(parser: Parser, field: string): Filter {
  const { lexer } = parser;
  const open = lexer.next();
  const [min, minText] = parseBound(parser);
  lexer.expect(',');
  const [max, maxText] = parseBound(parser);
  if (!lexer.is(')', ']')) lexer.fail('expected ")" or "]" after the end of a range');
  const close = lexer.next();
  const bounds = { min, minIncluded: open === '[', max, maxIncluded: close === ']' };
  return new RangeFilter(field, bounds, `range${open}${printNumber(minText)}, ${printNumber(maxText)}${close}`);
}

export const range: FilterSpec = {
  names: ['range'],
  kind: 'function',
  opens: ['(', '['],
  examples: [{ query: 'took:range(250ms, 2s]', input: INPUT, output: [{ _msg: 'b', took: '1.5s' }] }],
  parse(parser, field) {
    parser.lexer.next();
    return parseInterval(parser, field);
  },
};

/** `f:[1, 2)`: a range without its word; only behind the name of a field. */
export const interval: FilterSpec = {
  names: ['['],
  kind: 'operator',
  examples: [{ query: 'took:[250ms, 1.5s)', input: INPUT, output: [{ _msg: 'a', took: '250ms' }] }],
  parse: parseInterval,
};

function parseBound(parser: Parser): [Bound, string] {
  const at = parser.lexer.save();
  const text = parser.lexer.compound('a number');
  const value = boundOf(text);
  if (value !== null) return [value, text];
  parser.lexer.restore(at);
  return parser.lexer.fail('expected a number');
}

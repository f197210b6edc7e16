/** Numeric ranges: `f:>10`, `f:<=1h30m`, `f:range[1KiB, 2MB)`. Only values that are wholly a number, size, duration, time or IPv4 match. */
import { float64, sql, type Sql } from '../../pipeline/core/sql.ts';
import { numericValue } from '../values/numbers.ts';
import { numericSql } from '../sql/number.ts';
import { FALSE, and, onText } from '../sql/text.ts';
import type { Filter, FilterSpec, Parser, SqlContext } from '../base/types.ts';
import { StringRangeFilter } from './string-range.ts';
import { TextFilter } from './text-filter.ts';

/** The ends of a range, and whether they belong to it. */
export type Bounds = { readonly min: number; readonly minIncluded: boolean; readonly max: number; readonly maxIncluded: boolean };

const NUMBER_TOKEN = /^[\p{L}\p{N}_.:+/-]+$/u;
/** A number as it was written. */
const printNumber = (text: string): string => (NUMBER_TOKEN.test(text) ? text : JSON.stringify(text));

export class RangeFilter extends TextFilter {
  readonly bounds: Bounds;
  readonly #written: string;
  constructor(field: string, bounds: Bounds, written: string) {
    super(field);
    // There is nothing between an infinite bound and its neighbour, so it always belongs to the range.
    this.bounds = {
      ...bounds,
      minIncluded: bounds.minIncluded || !Number.isFinite(bounds.min),
      maxIncluded: bounds.maxIncluded || !Number.isFinite(bounds.max),
    };
    this.#written = written;
  }
  print(): string {
    return this.#written;
  }
  accepts(text: string): boolean {
    const { min, minIncluded, max, maxIncluded } = this.bounds;
    const value = numericValue(text);
    return (minIncluded ? value >= min : value > min) && (maxIncluded ? value <= max : value < max);
  }
  sql(context: SqlContext): Sql | null {
    const { min, minIncluded, max, maxIncluded } = this.bounds;
    if (Number.isNaN(min) || Number.isNaN(max)) return FALSE;
    return onText(this.field, context, (value) => {
      if (context.doubt !== undefined && this.#isPlain) return this.#plainSql(value, context.doubt);
      const conditions: Sql[] = [];
      if (min !== -Infinity) conditions.push(minIncluded ? sql`n >= ${float64(min)}` : sql`n > ${float64(min)}`);
      if (max !== Infinity) conditions.push(maxIncluded ? sql`n <= ${float64(max)}` : sql`n < ${float64(max)}`);
      // The number is written once: ClickHouse would analyse each repetition for milliseconds.
      const inRange = conditions.length === 0 ? sql`isNotNull(n)` : sql`ifNull(${and(conditions)}, 0)`;
      return sql`arrayExists(n -> ${inRange}, [${numericSql(value)}])`;
    });
  }
  /** Bounds without units: so are the values, mostly. */
  get #isPlain(): boolean {
    return /^(?:range|[<>]=?|)[-+0-9.,\s()[\]]+$/.test(this.#written) && !/\d\.\d+\./.test(this.#written);
  }
  /** Right for plain decimals and missing values: planned in a third of the time, and looked at in less. */
  #plainSql(value: Sql, doubt: (rows: Sql) => void): Sql {
    const { min, minIncluded, max, maxIncluded } = this.bounds;
    const number = sql`ifNull(toFloat64OrNull(${value}), nan)`;
    doubt(sql`(${value} != '' AND NOT isFinite(${number}))`);
    return and([
      ...(min === -Infinity ? [] : [minIncluded ? sql`${number} >= ${float64(min)}` : sql`${number} > ${float64(min)}`]),
      ...(max === Infinity ? [] : [maxIncluded ? sql`${number} <= ${float64(max)}` : sql`${number} < ${float64(max)}`]),
      ...(min === -Infinity && max === Infinity ? [sql`isFinite(${number})`] : []),
    ]);
  }
}

/** A number as a bound of a range; null when the string is not one. */
function boundOf(text: string): number | null {
  const value = numericValue(text);
  return Number.isNaN(value) && text.toLowerCase() !== 'nan' ? null : value;
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
    ? { min: value, minIncluded: isIncluded, max: Infinity, maxIncluded: true }
    : { min: -Infinity, minIncluded: true, max: value, maxIncluded: isIncluded };
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

function parseBound(parser: Parser): [number, string] {
  const at = parser.lexer.save();
  const text = parser.lexer.compound('a number');
  const value = boundOf(text);
  if (value !== null) return [value, text];
  parser.lexer.restore(at);
  return parser.lexer.fail('expected a number');
}

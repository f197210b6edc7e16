import { float64, sql } from '../../pipeline/core/sql.ts';
import { parseDecimal } from '../numbers.ts';
import { compareValues } from '../order.ts';
import { namesInParens } from '../pipes/arguments.ts';
import { quotePattern } from '../reserved.ts';
import type { Accumulator, Parser, Stats, StatsContext, StatsSpec, StatsSql, StatsSqlInput } from '../types.ts';
import { aggregate, columnsOf, isCanonicalNumber, parseFields, printFields, textsOf } from './base.ts';

/** `quantile(phi, a, b)` and `median(a)`: an existing value, the one at place ⌊phi·n⌋ in the order of `sort`; missing fields count as ''. */
class Quantile implements Stats {
  readonly fields: readonly string[];
  readonly #phi: number;
  readonly #written: string | null;
  constructor(phi: number, written: string | null, fields: readonly string[]) {
    this.#phi = phi;
    this.#written = written;
    this.fields = fields;
  }
  toString(): string {
    return this.#written === null
      ? printFields('median', this.fields)
      : `quantile(${[this.#written, ...this.fields.map(quotePattern)].join(', ')})`;
  }
  accumulator({ hold }: StatsContext): Accumulator {
    const texts: string[] = [];
    return {
      add: (row) => {
        for (const text of textsOf(row, this.fields)) {
          hold(text.length + 40);
          texts.push(text);
        }
      },
      value: () => texts.sort(compareValues)[Math.min(texts.length - 1, Math.floor(this.#phi * texts.length))] ?? '',
    };
  }
  /** Exact where all values are plain numbers or missing; the last column counts those that are not. */
  sql({ condition }: StatsSqlInput): StatsSql | null {
    const [column] = columnsOf(this.fields) ?? [];
    if (column === undefined || this.fields.length !== 1 || this.fields[0] === '_time') return null;
    const isEmpty = sql`${column} = ''`;
    const value = sql`if(${isEmpty}, -inf, ifNull(toFloat64OrNull(${column}), 0))`;
    const quantile =
      condition === null
        ? sql`quantileExact(${float64(this.#phi)})(${value})`
        : sql`quantileExactIf(${float64(this.#phi)})(${value}, ${condition})`;
    return {
      columns: [
        sql`toString(${quantile})`,
        aggregate('count', [], [condition]),
        aggregate('count', [], [condition, sql`NOT (${isEmpty} OR ${isCanonicalNumber(column)})`]),
      ],
      decode: ([result, rows, others]) => (Number(others) > 0 ? null : Number(rows) === 0 || result === '-inf' ? '' : String(result)),
    };
  }
}

function parseQuantile(parser: Parser): Stats {
  const { lexer } = parser;
  lexer.next();
  const at = lexer.save();
  const [phi = '', ...fields] = namesInParens(lexer);
  const value = parseDecimal(phi);
  if (value !== null && value >= 0 && value <= 1)
    return new Quantile(value, String(value), fields.length === 0 || fields.includes('*') ? ['*'] : fields);
  lexer.restore(at);
  return lexer.fail('expected quantile(phi, field) with phi from 0 to 1');
}

const INPUT = [{ n: 5 }, { n: 1 }, { n: 3 }, { n: 10 }];

export const quantile: StatsSpec = {
  names: ['quantile'],
  examples: [
    { query: '* | stats quantile(0.5, n) q', input: INPUT, output: [{ q: '5' }] },
    { query: '* | fields n | stats quantile(1) q', input: INPUT, output: [{ q: '10' }] },
  ],
  parse: parseQuantile,
};

export const median: StatsSpec = {
  names: ['median'],
  examples: [{ query: '* | stats median(n) m', input: INPUT, output: [{ m: '5' }] }],
  parse: (parser) => new Quantile(0.5, null, parseFields(parser)),
};

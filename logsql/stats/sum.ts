import { Literal, type FieldValue } from '../../pipeline/core/entry.ts';
import { sql, type Sql } from '../../pipeline/core/sql.ts';
import { formatFloat, parseNumber } from '../numbers.ts';
import { numberSql } from '../sql/number.ts';
import type { Accumulator, Stats, StatsSpec, StatsSql, StatsSqlInput } from '../types.ts';
import { aggregate, columnsOf, parseFields, printFields, textsOf } from './base.ts';

/** A computed number as a value: a JSON number, or the text `NaN`, `+Inf` or `-Inf`. */
export const numberValue = (value: number): FieldValue => (Number.isFinite(value) ? new Literal(formatFloat(value)) : formatFloat(value));

/** `sum(a, b)` and `avg(a, b)`: over values that are numbers, sizes (bytes) or durations (nanoseconds); NaN where there is none. */
class Sum implements Stats {
  readonly fields: readonly string[];
  readonly #name: 'sum' | 'avg';
  constructor(name: 'sum' | 'avg', fields: readonly string[]) {
    this.#name = name;
    this.fields = fields;
  }
  toString(): string {
    return printFields(this.#name, this.fields);
  }
  #result(total: number, size: number): FieldValue {
    return numberValue(size === 0 ? NaN : this.#name === 'sum' ? total : total / size);
  }
  accumulator(): Accumulator {
    let [total, lost, size] = [0, 0, 0];
    return {
      add: (row) => {
        for (const text of textsOf(row, this.fields)) {
          const value = text === '' ? null : parseNumber(text);
          if (value === null) continue;
          // Neumaier's sum: what rounding loses is kept apart, so that the order of rows does not show.
          const next = total + value;
          lost += Math.abs(total) >= Math.abs(value) ? total - next + value : value - next + total;
          total = next;
          size += 1;
        }
      },
      value: () => this.#result(Number.isFinite(total) ? total + lost : total, size),
    };
  }
  sql({ condition }: StatsSqlInput): StatsSql | null {
    const columns = columnsOf(this.fields)?.map(numberSql);
    if (columns === undefined) return null;
    return {
      columns: columns.flatMap((column) => [exactSum(column, condition), aggregate('count', [column], [condition])]),
      decode: (values) => {
        let [total, size] = [0, 0];
        for (let at = 0; at < values.length; at += 2) {
          total += numberOf(values[at]);
          size += Number(values[at + 1]);
        }
        return this.#result(total, size);
      },
    };
  }
}

/** Kahan's sum, which is NaN where anything is infinite: then the plain one. */
function exactSum(column: Sql, condition: Sql | null): Sql {
  const plain = aggregate('sum', [column], [condition]);
  return sql`if(isFinite(${plain}), ${aggregate('sumKahan', [column], [condition])}, ${plain})`;
}

/** A float as ClickHouse writes it; 0 for NULL. */
const numberOf = (value: unknown): number => (value === 'inf' ? Infinity : value === '-inf' ? -Infinity : Number(value ?? 0));

const INPUT = [{ a: 1, took: '1.5s' }, { a: 3, took: '500ms' }, { a: 'x' }];

export const sum: StatsSpec = {
  names: ['sum'],
  examples: [{ query: '* | stats sum(a) s, sum(took) t, sum(nosuch) n', input: INPUT, output: [{ s: 4, t: 2_000_000_000, n: 'NaN' }] }],
  parse: (parser) => new Sum('sum', parseFields(parser)),
};

export const avg: StatsSpec = {
  names: ['avg'],
  examples: [{ query: '* | stats avg(a) s', input: INPUT, output: [{ s: 2 }] }],
  parse: (parser) => new Sum('avg', parseFields(parser)),
};

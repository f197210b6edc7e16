import { Literal, type FieldValue } from '../../pipeline/core/entry.ts';
import { sql } from '../../pipeline/core/sql.ts';
import { formatFloat, parseNumber } from '../values/numbers.ts';
import { numberSql } from '../sql/number.ts';
import type { Accumulator, Measure, Stats, StatsSpec, StatsSql, StatsSqlInput } from '../base/types.ts';
import { columnsOf, parseFields, printFields, textsOf } from './base.ts';
import { aggregate } from '../sql/aggregate.ts';
import { ExactSum, fitsSteps, fromSteps, stepsSql } from './exact-sum.ts';

/** A computed number as a value: a JSON number, or the string `NaN`, `+Inf` or `-Inf`. */
export const numberValue = (value: number): FieldValue => (Number.isFinite(value) ? new Literal(formatFloat(value)) : formatFloat(value));

/** `sum(a, b)` and `avg(a, b)`: over values that are numbers, sizes (bytes) or durations (nanoseconds); NaN where there is none. */
class Sum implements Stats {
  readonly fields: readonly string[];
  readonly #name: 'sum' | 'avg';
  constructor(name: 'sum' | 'avg', fields: readonly string[]) {
    this.#name = name;
    this.fields = fields;
  }
  get measure(): Measure {
    return { kind: this.#name };
  }
  toString(): string {
    return printFields(this.#name, this.fields);
  }
  #result(total: number, size: number): FieldValue {
    return numberValue(size === 0 ? NaN : this.#name === 'sum' ? total : total / size);
  }
  accumulator(): Accumulator {
    const total = new ExactSum();
    let size = 0;
    return {
      add: (row) => {
        for (const text of textsOf(row, this.fields)) {
          const value = text === '' ? null : parseNumber(text);
          if (value === null) continue;
          total.add(value);
          size += 1;
        }
      },
      value: () => this.#result(total.value, size),
    };
  }
  /** Exact but for floats that are extremely small or large: the third column of a field counts them. */
  sql({ condition, layers, context }: StatsSqlInput): StatsSql | null {
    const columns = columnsOf(this.fields, context);
    if (columns === null) return null;
    return {
      columns: columns.flatMap((column) => {
        const name = layers.name(numberSql(column));
        const isFinite = sql`isFinite(${name})`;
        const fits = fitsSteps(name);
        return [
          aggregate('count', [name], [condition]),
          sql`toString(${aggregate('sum', [stepsSql(sql`assumeNotNull(${name})`)], [condition, sql`ifNull(${isFinite} AND ${fits}, 0)`])})`,
          aggregate('count', [], [condition, sql`ifNull(${isFinite} AND NOT ${fits}, 0)`]),
          aggregate('sum', [name], [condition, sql`ifNull(NOT ${isFinite}, 0)`]),
        ];
      }),
      decode: (values) => {
        let [size, steps, special] = [0, 0n, 0];
        for (let at = 0; at < values.length; at += 4) {
          if (Number(values[at + 2]) > 0) return null;
          size += Number(values[at]);
          steps += BigInt(String(values[at + 1]));
          special += numberOf(values[at + 3]);
        }
        return this.#result(special === 0 ? fromSteps(steps) : special, size);
      },
    };
  }
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

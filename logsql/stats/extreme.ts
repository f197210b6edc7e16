import { sql } from '../../pipeline/core/sql.ts';
import { compareTimes, compareValues } from '../order.ts';
import { columnTime } from '../pipes/group.ts';
import type { Accumulator, Stats, StatsContext, StatsSpec, StatsSql, StatsSqlInput } from '../types.ts';
import { aggregate, columnsOf, isCanonicalNumber, parseFields, printFields, textsOf } from './base.ts';

/** `min(a, b)` and `max(a, b)`: the text of the smallest or largest value. A missing field counts as '', which is the smallest. */
class Extreme implements Stats {
  readonly fields: readonly string[];
  readonly #name: 'min' | 'max';
  constructor(name: 'min' | 'max', fields: readonly string[]) {
    this.#name = name;
    this.fields = fields;
  }
  toString(): string {
    return printFields(this.#name, this.fields);
  }
  accumulator({ hold }: StatsContext): Accumulator {
    let best: string | null = null;
    const sign = this.#name === 'min' ? 1 : -1;
    const compare = this.fields.length === 1 && this.fields[0] === '_time' ? compareTimes : compareValues;
    return {
      add: (row) => {
        for (const text of textsOf(row, this.fields)) {
          if (best !== null && sign * compare(text, best) >= 0) continue;
          hold(text.length - (best?.length ?? 0));
          best = text;
        }
      },
      value: () => best ?? '',
    };
  }
  /** Exact where all values are plain numbers or missing; the last column counts those that are not. */
  sql({ condition }: StatsSqlInput): StatsSql | null {
    if (this.fields.length !== 1) return null;
    if (this.fields[0] === '_time') {
      return {
        columns: [sql`toString(${aggregate(this.#name, [sql`_time`], [condition])})`, aggregate('count', [], [condition])],
        decode: ([time, rows]) => (Number(rows) === 0 ? '' : columnTime(String(time))),
      };
    }
    const [column] = columnsOf(this.fields) ?? [];
    if (column === undefined) return null;
    const isEmpty = sql`${column} = ''`;
    return {
      columns: [
        sql`ifNull(toString(${aggregate(this.#name, [sql`toFloat64OrNull(${column})`], [condition])}), '')`,
        aggregate('count', [], [condition, isEmpty]),
        aggregate('count', [], [condition, sql`NOT (${isEmpty} OR ${isCanonicalNumber(column)})`]),
      ],
      decode: ([value, empty, others]) => (Number(others) > 0 ? null : this.#name === 'min' && Number(empty) > 0 ? '' : String(value)),
    };
  }
}

const INPUT = [
  { v: '1.10.0', n: 7 },
  { v: '1.9.0', n: 10 },
];

export const min: StatsSpec = {
  names: ['min'],
  examples: [
    { query: '* | stats min(n) n, min(v) v', input: INPUT, output: [{ n: '7', v: '1.9.0' }] },
    { query: '* | stats min(n) n, count() c', input: [{ n: 1 }, { m: 1 }], output: [{ c: 2 }] },
  ],
  parse: (parser) => new Extreme('min', parseFields(parser)),
};

export const max: StatsSpec = {
  names: ['max'],
  examples: [{ query: '* | stats max(n) n, max(v) v', input: INPUT, output: [{ n: '10', v: '1.10.0' }] }],
  parse: (parser) => new Extreme('max', parseFields(parser)),
};

import type { FieldValue } from '../../pipeline/core/entry.ts';
import { sql } from '../../pipeline/core/sql.ts';
import { compareBytes, compareValues } from '../order.ts';
import type { Accumulator, Stats, StatsContext, StatsSpec, StatsSql, StatsSqlInput } from '../types.ts';
import { columnsOf, parseFields, parseLimit, printFields, printLimit, textsOf } from './base.ts';

/** `uniq_values(a, b) [limit N]`: the different values that are not empty, sorted; `values(…)`: all of them, empty ones too. As JSON arrays. */
class Values implements Stats {
  readonly fields: readonly string[];
  readonly #isUnique: boolean;
  readonly #limit: number;
  constructor(isUnique: boolean, fields: readonly string[], limit: number) {
    this.#isUnique = isUnique;
    this.fields = fields;
    this.#limit = limit;
  }
  toString(): string {
    return printFields(this.#isUnique ? 'uniq_values' : 'values', this.fields) + printLimit(this.#limit);
  }
  #result(values: readonly string[]): FieldValue {
    // Values of several kinds may come in a ring (`5m`, `1e16`, `1took`): by bytes first, so that the same values always come the same way.
    return JSON.stringify(this.#isUnique ? [...values].sort(compareBytes).sort(compareValues).slice(0, this.#limit) : values);
  }
  accumulator({ hold }: StatsContext): Accumulator {
    const list: string[] = [];
    const seen = new Set<string>();
    return {
      add: (row) => {
        for (const text of textsOf(row, this.fields)) {
          if (this.#isUnique ? text === '' || seen.has(text) : list.length >= this.#limit) continue;
          hold(text.length * 2 + 60);
          if (this.#isUnique) seen.add(text);
          else list.push(text);
        }
      },
      value: () => this.#result(this.#isUnique ? [...seen] : list),
    };
  }
  sql({ condition }: StatsSqlInput): StatsSql | null {
    const [column, ...more] = columnsOf(this.fields) ?? [];
    if (!this.#isUnique || column === undefined || more.length > 0 || this.fields[0] === '_time') return null;
    const isFull = sql`${column} != ''`;
    return {
      columns: [sql`groupUniqArrayIf(${column}, ${condition === null ? isFull : sql`${isFull} AND ${condition}`})`],
      decode: ([values]) => this.#result(values as readonly string[]),
    };
  }
}

const INPUT = [{ a: 'x' }, { a: '10' }, { b: 1 }, { a: '9' }, { a: 'x' }];

export const uniqValues: StatsSpec = {
  names: ['uniq_values'],
  examples: [{ query: '* | stats uniq_values(a) v', input: INPUT, output: [{ v: '["9","10","x"]' }] }],
  parse: (parser) => new Values(true, parseFields(parser), parseLimit(parser)),
};

export const values: StatsSpec = {
  names: ['values'],
  examples: [{ query: '* | stats values(b) v', input: INPUT.slice(0, 3), output: [{ v: '["","","1"]' }] }],
  parse: (parser) => new Values(false, parseFields(parser), parseLimit(parser)),
};

import { Literal } from '../../pipeline/core/entry.ts';
import { join, sql, type Sql } from '../../pipeline/core/sql.ts';
import { and } from '../sql/text.ts';
import type { Accumulator, Stats, StatsSpec, StatsSql, StatsSqlInput } from '../base/types.ts';
import { columnsOf, parseFields, printFields, textsOf } from './base.ts';
import { aggregate } from '../sql/aggregate.ts';

type Tally = {
  readonly name: string;
  /** What a row counts, given the strings of the fields. */
  readonly measure: (texts: readonly string[]) => number;
  /** The same for all rows together, in SQL. */
  readonly sql: (columns: readonly Sql[], condition: Sql | null) => Sql;
};

/** A function that adds up a whole number for each row. */
class TallyStats implements Stats {
  readonly fields: readonly string[];
  readonly #tally: Tally;
  constructor(tally: Tally, fields: readonly string[]) {
    this.#tally = tally;
    this.fields = fields;
  }
  toString(): string {
    return printFields(this.#tally.name, this.fields);
  }
  accumulator(): Accumulator {
    let total = 0;
    return {
      add: (row) => {
        total += this.#tally.measure(textsOf(row, this.fields));
      },
      value: () => new Literal(String(total)),
    };
  }
  sql({ condition, context }: StatsSqlInput): StatsSql | null {
    const columns = columnsOf(this.fields, context);
    if (columns === null) return null;
    const number = this.#tally.sql(columns, condition);
    return { columns: [number], number, decode: ([total]) => new Literal(String(total)) };
  }
}

const spec = (tally: Tally, examples: StatsSpec['examples']): StatsSpec => ({
  names: [tally.name],
  examples,
  parse: (parser) => new TallyStats(tally, parseFields(parser)),
});

/** `count_empty(a, b)`: rows in which all of the fields are empty. */
export const countEmpty = spec(
  {
    name: 'count_empty',
    measure: (texts) => (texts.every((text) => text === '') ? 1 : 0),
    sql: (columns, condition) => aggregate('count', [], [condition, and(columns.map((column) => sql`${column} = ''`))]),
  },
  [{ query: '* | stats count_empty(a, b) n', input: [{ a: 1 }, { b: 1 }, { c: 1 }], output: [{ n: 1 }] }],
);

/** `sum_len(a, b)`: the bytes of the values. */
export const sumLen = spec(
  {
    name: 'sum_len',
    measure: (texts) => texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0),
    sql: (columns, condition) =>
      aggregate(
        'sum',
        [
          join(
            columns.map((column) => sql`length(${column})`),
            sql` + `,
          ),
        ],
        [condition],
      ),
  },
  [{ query: '* | stats sum_len(a) n', input: [{ a: 'äb' }, { a: 'c' }], output: [{ n: 4 }] }],
);

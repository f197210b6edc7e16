import type { FieldValue } from '../../pipeline/core/entry.ts';
import { join, sql, type Sql } from '../../pipeline/core/sql.ts';
import type { QueryMemory } from '../base/memory.ts';
import { MOST_FIRST, firstRows, readFirst } from '../sql/places.ts';
import type { Accumulator, Stats, StatsContext, StatsSpec, StatsSql, StatsSqlInput } from '../base/types.ts';
import { columnsOf, parseFields, parseLimit, printFields, printLimit, textsOf } from './base.ts';
import { bothOf } from '../sql/aggregate.ts';
import { inOrder } from './ranking.ts';

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
  #result(values: readonly string[], memory: QueryMemory): FieldValue {
    return JSON.stringify(this.#isUnique ? inOrder(values, memory).slice(0, this.#limit) : values);
  }
  accumulator({ hold, memory }: StatsContext): Accumulator {
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
      value: () => this.#result(this.#isUnique ? [...seen] : list, memory),
    };
  }
  sql(input: StatsSqlInput): StatsSql | null {
    const columns = columnsOf(this.fields, input.context);
    if (columns === null || this.fields.includes('_time')) return null;
    const list = sql`[${join(
      columns.map((column) => sql`toString(${column})`),
      sql`, `,
    )}]`;
    return this.#isUnique ? this.#uniqueSql(columns, list, input) : this.#firstSql(list, input);
  }
  #uniqueSql([column = sql`''`, ...more]: readonly Sql[], list: Sql, { condition, run }: StatsSqlInput): StatsSql {
    const values = more.length === 0 ? sql`groupUniqArrayIf(${column}, ${bothOf(condition, sql`${column} != ''`)})` : null;
    const full = sql`arrayFilter(v -> v != '', ${list})`;
    const several = condition === null ? sql`groupUniqArrayArray(${full})` : sql`groupUniqArrayArrayIf(${full}, ${condition})`;
    return { columns: [values ?? several], decode: ([found]) => this.#result(found as readonly string[], run.memory) };
  }
  /** The first values, where they are few; all of them would be sent either way. */
  #firstSql(list: Sql, { condition, run }: StatsSqlInput): StatsSql | null {
    if (this.#limit > MOST_FIRST) return null;
    return {
      columns: [firstRows(list, this.#limit, condition)],
      decode: ([rows]) => this.#result(readFirst(rows).flat().slice(0, this.#limit), run.memory),
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

import { Literal } from '../../pipeline/core/entry.ts';
import { join, sql } from '../../pipeline/core/sql.ts';
import { keyOf } from '../pipes/rows.ts';
import { or } from '../sql/text.ts';
import type { Accumulator, Stats, StatsContext, StatsSpec, StatsSql, StatsSqlInput } from '../types.ts';
import { aggregate, columnsOf, parseFields, parseLimit, printFields, printLimit, textsOf } from './base.ts';

/** `count_uniq(a, b) [limit N]`: different lists of values that are not all empty, exactly. */
class CountUniq implements Stats {
  readonly fields: readonly string[];
  readonly #limit: number;
  constructor(fields: readonly string[], limit: number) {
    this.fields = fields;
    this.#limit = limit;
  }
  toString(): string {
    return printFields('count_uniq', this.fields) + printLimit(this.#limit);
  }
  accumulator({ hold }: StatsContext): Accumulator {
    const seen = new Set<string>();
    return {
      add: (row) => {
        if (seen.size >= this.#limit) return;
        const texts = textsOf(row, this.fields);
        if (texts.every((text) => text === '')) return;
        const key = keyOf(texts);
        if (seen.has(key)) return;
        hold(key.length * 2 + 80);
        seen.add(key);
      },
      value: () => new Literal(String(seen.size)),
    };
  }
  sql({ condition }: StatsSqlInput): StatsSql | null {
    const columns = this.fields.length === 1 && this.fields[0] === '_stream' ? [sql`stream_id`] : columnsOf(this.fields);
    if (columns === null) return null;
    const isFull = this.fields[0] === '_stream' ? null : or(columns.map((column) => sql`${column} != ''`));
    const value = columns.length === 1 ? columns : [sql`(${join(columns, sql`, `)})`];
    return {
      columns: [aggregate('uniqExact', value, [condition, isFull])],
      decode: ([size]) => new Literal(String(Math.min(Number(size), this.#limit))),
    };
  }
}

export const countUniq: StatsSpec = {
  names: ['count_uniq'],
  examples: [{ query: '* | stats count_uniq(a) n', input: [{ a: 'x' }, { a: 'y' }, { a: 'x' }, { b: 1 }], output: [{ n: 2 }] }],
  parse: (parser) => new CountUniq(parseFields(parser), parseLimit(parser)),
};

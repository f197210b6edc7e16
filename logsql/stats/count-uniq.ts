import { Literal } from '../../pipeline/core/entry.ts';
import { join, sql } from '../../pipeline/core/sql.ts';
import { keyOf } from '../base/rows.ts';
import { or } from '../sql/text.ts';
import type { Accumulator, Measure, Stats, StatsContext, StatsSpec, StatsSql, StatsSqlInput } from '../base/types.ts';
import { columnsOf, parseFields, parseLimit, printFields, printLimit, textsOf } from './base.ts';
import { aggregate } from '../sql/aggregate.ts';

/** `count_uniq(a, b) [limit N]`: different lists of values that are not all empty, exactly; `count_uniq_hash` may estimate, and does not. */
class CountUniq implements Stats {
  readonly onlyCounts = true;
  readonly fields: readonly string[];
  readonly #name: 'count_uniq' | 'count_uniq_hash';
  readonly #limit: number;
  constructor(name: 'count_uniq' | 'count_uniq_hash', fields: readonly string[], limit: number) {
    this.#name = name;
    this.fields = fields;
    this.#limit = limit;
  }
  get measure(): Measure | undefined {
    return this.#limit === Infinity ? { kind: 'count_uniq' } : undefined;
  }
  toString(): string {
    return printFields(this.#name, this.fields) + printLimit(this.#limit);
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
  sql({ condition, context }: StatsSqlInput): StatsSql | null {
    const columns = this.fields.length === 1 && this.fields[0] === '_stream' ? [context.table.stream.key] : columnsOf(this.fields, context);
    if (columns === null) return null;
    const isFull = this.fields[0] === '_stream' ? null : or(columns.map((column) => sql`${column} != ''`));
    const value = columns.length === 1 ? columns : [sql`(${join(columns, sql`, `)})`];
    const number = aggregate('uniqExact', value, [condition, isFull]);
    return {
      columns: [number],
      ...(this.#limit === Infinity ? { number } : {}),
      decode: ([size]) => new Literal(String(Math.min(Number(size), this.#limit))),
    };
  }
}

const spec = (name: 'count_uniq' | 'count_uniq_hash'): StatsSpec => ({
  names: [name],
  examples: [{ query: `* | stats ${name}(a) n`, input: [{ a: 'x' }, { a: 'y' }, { a: 'x' }, { b: 1 }], output: [{ n: 2 }] }],
  parse: (parser) => new CountUniq(name, parseFields(parser), parseLimit(parser)),
});

export const countUniq = spec('count_uniq');
export const countUniqHash = spec('count_uniq_hash');

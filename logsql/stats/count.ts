import { Literal } from '../../pipeline/core/entry.ts';
import { or, existsSql } from '../sql/text.ts';
import type { Accumulator, Stats, StatsSpec, StatsSql, StatsSqlInput } from '../base/types.ts';
import { parseFields, printFields, textsOf } from './base.ts';
import { countEntries } from '../sql/aggregate.ts';

/** `count()`: rows; `count(a, b)`: rows in which at least one of the fields is not empty. */
class Count implements Stats {
  readonly measure = { kind: 'count' } as const;
  readonly onlyCounts = true;
  readonly fields: readonly string[];
  readonly #arguments: readonly string[];
  constructor(fields: readonly string[]) {
    this.#arguments = fields;
    this.fields = fields[0] === '*' ? [] : fields;
  }
  toString(): string {
    return printFields('count', this.#arguments);
  }
  accumulator(): Accumulator {
    let rows = 0;
    const { fields } = this;
    return {
      add: (row) => {
        if (fields.length === 0 || textsOf(row, fields).some((text) => text !== '')) rows += 1;
      },
      value: () => new Literal(String(rows)),
    };
  }
  sql({ condition, entries, context }: StatsSqlInput): StatsSql | null {
    const found = this.fields.map((field) => (field.endsWith('*') ? null : existsSql(field, context)));
    if (!found.every((part) => part !== null)) return null;
    const conditions = [condition, this.fields.length === 0 ? null : or(found)];
    const number = countEntries(entries, conditions);
    return { columns: [number], number, decode: ([rows]) => new Literal(String(rows)) };
  }
}

export const count: StatsSpec = {
  names: ['count'],
  examples: [
    { query: '* | stats count()', input: [{ a: 1 }, { b: 1 }], output: [{ 'count(*)': 2 }] },
    { query: '* | stats count(a) n', input: [{ a: 1 }, { b: 1 }], output: [{ n: 1 }] },
  ],
  parse: (parser) => new Count(parseFields(parser)),
};

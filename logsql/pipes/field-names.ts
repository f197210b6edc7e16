import { Literal, type LogEntry } from '../../pipeline/core/entry.ts';
import { Sql, join, sql } from '../../pipeline/core/sql.ts';
import { FieldSet } from '../base/fields.ts';
import type { SharedFields, Table } from '../base/table.ts';
import { compareBytes } from '../values/order.ts';
import { quote } from '../base/reserved.ts';
import type { Pipe, PipeSpec, RunContext, SqlInput, SqlPipe, Stage } from '../base/types.ts';
import { atEnd, fieldName } from '../base/arguments.ts';
import { Budget, rowOf } from '../base/rows.ts';

const COMMA = sql`, `;
const countsOf = (source: Sql, { lists, names }: Table): Sql =>
  sql`SELECT ${join(
    lists.counts.map(([, count]) => count),
    COMMA,
  )}, sumMap(${names}, arrayMap(k -> 1, ${names})) FROM ${source}`;

/** The same with fields that lie together in one string: each of its strings is read once. */
function countsWith({ of, pairs }: SharedFields, source: Sql, { lists, names }: Table): Sql {
  const counts = lists.counts.map(([, count], index) => ({ count, name: new Sql([`n${String(index)}`], []) }));
  const inner = join([...counts.map(({ count, name }) => sql`${count} AS ${name}`), sql`sumMap(${names}, arrayMap(k -> 1, ${names})) AS m`], COMMA); // prettier-ignore
  const outer = join([...counts.map(({ name }) => sql`sum(${name})`), sql`sumMap(m.1, m.2)`], COMMA);
  return sql`SELECT ${outer}, sumMap(arrayMap(p -> p.1, pairs), arrayMap(p -> total, pairs)) FROM (SELECT *, ${pairs(sql`shared`)} AS pairs FROM (SELECT ${of} AS shared, ${inner}, count() AS total FROM ${source} GROUP BY shared))`;
}

/** `field_names [as n]`: the names of the fields that are there, with the number of rows that have them. */
class FieldNamesPipe implements Pipe {
  readonly liveTail = false;
  readonly rows = 'reshaped';
  readonly #name: string;
  constructor(name: string) {
    this.#name = name;
  }
  toString(): string {
    return `field_names${this.#name === 'name' ? '' : ` as ${quote(this.#name)}`}`;
  }
  needs(): FieldSet {
    return FieldSet.all;
  }
  stage({ memory }: RunContext): Stage {
    const hits = new Map<string, number>();
    const budget = new Budget(memory, 'The field_names pipe');
    return {
      push: (row) => {
        for (const [name, value] of row) {
          if (value === '') continue;
          const known = hits.get(name);
          if (known === undefined) budget.take(1, name.length + 100);
          hits.set(name, (known ?? 0) + 1);
        }
        return [];
      },
      flush: () => memory.sort([...hits], ([a], [b]) => compareBytes(a, b)).map(([name, size]) => this.#row(name, String(size))),
    };
  }
  #row(name: string, hits: string): LogEntry {
    return rowOf([
      [this.#name, name],
      ['hits', new Literal(hits)],
    ]);
  }
  sql({ source, context: { table } }: SqlInput): SqlPipe {
    const { counts, shared } = table.lists;
    const names = new Map<string, string>();
    const own = new Set(counts.map(([name]) => name));
    return {
      // One pass: the counts of the columns, and those of the map's keys.
      statement: shared === undefined ? countsOf(source, table) : countsWith(shared, source, table),
      streamColumns: [],
      decode: (row) => {
        for (const [index, [name]] of counts.entries()) names.set(name, String(row[index]));
        for (const pairs of row.slice(counts.length)) {
          const [keys, sizes] = pairs as readonly [readonly string[], readonly string[]];
          for (const [index, key] of keys.entries()) if (!own.has(key)) names.set(key, String(sizes[index]));
        }
        return [...names]
          .filter(([, size]) => size !== '0')
          .sort(([a], [b]) => compareBytes(a, b))
          .map(([name, size]) => this.#row(name, size));
      },
    };
  }
}

export const fieldNames: PipeSpec = {
  names: ['field_names'],
  examples: [
    {
      query: '* | field_names',
      input: [{ _msg: 'a', b: 1 }, { _msg: 'c' }],
      output: [
        { name: '_msg', hits: 2 },
        { name: 'b', hits: 1 },
      ],
    },
  ],
  parse({ lexer }) {
    lexer.next();
    if (atEnd(lexer)) return new FieldNamesPipe('name');
    lexer.accept('as');
    return new FieldNamesPipe(fieldName(lexer));
  },
};

import { Literal, type LogEntry } from '../../pipeline/core/entry.ts';
import { join, sql, type Sql } from '../../pipeline/core/sql.ts';
import { FieldSet } from '../base/fields.ts';
import { compareBytes } from '../values/order.ts';
import { quote } from '../base/reserved.ts';
import type { Pipe, PipeSpec, RunContext, SqlInput, SqlPipe, Stage } from '../base/types.ts';
import { atEnd, fieldName } from '../base/arguments.ts';
import { Budget, rowOf } from '../base/rows.ts';

/** Fields that are columns of the table; the rest are in its map. */
const COLUMNS: readonly (readonly [string, Sql])[] = [
  ['_time', sql`count()`],
  ['_stream', sql`count()`],
  ['_msg', sql`countIf(_msg != '')`],
  ['level', sql`countIf(level != '')`],
  ['service', sql`countIf(service != '')`],
  ['trace_id', sql`countIf(trace_id != '')`],
  ['span_id', sql`countIf(span_id != '')`],
];

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
  sql({ source }: SqlInput): SqlPipe {
    const counts = join(
      COLUMNS.map(([, expression]) => expression),
      sql`, `,
    );
    const names = new Map<string, string>();
    const own = new Set(COLUMNS.map(([name]) => name));
    return {
      // One pass: the counts of the columns, and those of the map's keys.
      statement: sql`SELECT ${counts}, sumMap(mapKeys(fields), arrayMap(k -> 1, mapKeys(fields))) FROM ${source}`,
      streamColumns: [],
      decode: (row) => {
        for (const [index, [name]] of COLUMNS.entries()) names.set(name, String(row[index]));
        const [keys, sizes] = row[COLUMNS.length] as readonly [readonly string[], readonly string[]];
        for (const [index, key] of keys.entries()) if (!own.has(key)) names.set(key, String(sizes[index]));
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

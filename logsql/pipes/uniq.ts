import { Literal, textOf, type FieldValue, type LogEntry } from '../../pipeline/core/entry.ts';
import { join, sql, uint32, type Sql } from '../../pipeline/core/sql.ts';
import { FieldSet } from '../base/fields.ts';
import type { QueryMemory } from '../base/memory.ts';
import { compareBytes } from '../values/order.ts';
import { quote } from '../base/reserved.ts';
import type { Parser, Pipe, PipeSpec, RunContext, SqlInput, SqlPipe, Stage } from '../base/types.ts';
import { byNames, count, fieldName, freeName } from '../base/arguments.ts';
import { doubtColumn, groupKeys, isInDoubt } from './group.ts';
import { countEntries } from '../sql/aggregate.ts';
import { GroupOrderPipe, compareGroups, groupOrder } from './group-order.ts';
import { Budget, keyOf, rowOf } from '../base/rows.ts';

type UniqGroup = { readonly values: readonly (readonly [string, FieldValue])[]; hits: number };

/** Groups that are held beyond twice the limit before those that come last are left out. */
const SPARE = 1000;

/** `uniq by (a, b) [with hits] [limit N]`: each group of values once; without fields, each different row. */
export class UniqPipe implements Pipe {
  readonly liveTail = false;
  readonly rows = 'reshaped';
  readonly by: readonly string[];
  /** The field for the number of rows, or null. */
  readonly hits: string | null;
  readonly limit: number;
  constructor(by: readonly string[], hits: string | null, limit: number) {
    this.by = by;
    this.hits = hits;
    this.limit = limit;
  }
  get singleField(): string | undefined {
    return this.by.length === 1 ? this.by[0] : undefined;
  }
  toString(): string {
    const by = this.by.length > 0 ? ` by (${this.by.map(quote).join(', ')})` : '';
    return `uniq${by}${this.hits === null ? '' : ' with hits'}${this.limit === Infinity ? '' : ` limit ${String(this.limit)}`}`;
  }
  needs(): FieldSet {
    return this.by.length === 0 ? FieldSet.all : FieldSet.of(this.by);
  }
  stage(context: RunContext): Stage {
    const groups = new Map<string, UniqGroup>();
    const budget = new Budget(context.memory, 'The uniq pipe');
    let held = 0;
    return {
      push: (row) => {
        const values = this.#valuesOf(row);
        const key = keyOf(values.flat());
        const group = groups.get(key);
        if (group !== undefined) group.hits += 1;
        else {
          if (groups.size >= held) {
            budget.take(1, key.length * 2 + 200);
            held += 1;
          }
          groups.set(key, { values, hits: 1 });
          // of those that are left out here none can be among the first any more
          if (groups.size > 2 * this.limit + SPARE)
            for (const [left] of this.#sorted(groups, context.memory).slice(this.limit)) groups.delete(left);
        }
        return [];
      },
      flush: () =>
        this.#sorted(groups, context.memory)
          .slice(0, this.limit)
          .map(([, { values, hits }]) => this.#row(values, hits)),
    };
  }
  /** Groups in the order of their keys; whole rows by their strings. */
  #sorted(groups: ReadonlyMap<string, UniqGroup>, memory: QueryMemory): (readonly [string, UniqGroup])[] {
    if (this.by.length === 0) return memory.sort([...groups], ([a], [b]) => compareBytes(a, b));
    const compare = compareGroups(this.by);
    const keyed = [...groups].map((entry) => ({ entry, values: entry[1].values.map(([, value]) => textOf(value)) }));
    return memory.sort(keyed, (a, b) => compare(a.values, b.values)).map(({ entry }) => entry);
  }
  #valuesOf(row: LogEntry): readonly (readonly [string, string])[] {
    const names = this.by.length > 0 ? this.by : [...row.keys()].sort();
    return names.map((name) => [name, textOf(row.get(name))] as const);
  }
  #row(values: readonly (readonly [string, FieldValue])[], hits: number): LogEntry {
    return rowOf(this.hits === null ? values : [...values, [this.hits, new Literal(String(hits))] as const]);
  }
  get countedSpan(): number {
    return this.by.includes('_time') ? 0 : Infinity;
  }
  sql({ source, entries, context, doubt }: SqlInput): SqlPipe | null {
    const keys = groupKeys(this.by, context);
    if (keys === null || keys.length === 0) return null;
    const columns = keys.map((key): Sql => key.expression);
    const isUnordered = keys.some(({ isStream }) => isStream);
    const limit = this.limit === Infinity || isUnordered ? sql`` : sql` LIMIT ${uint32(Math.min(this.limit, 0xffffffff))}`;
    const list = join(columns, sql`, `);
    return {
      statement: sql`SELECT ${join([...columns, countEntries(entries), ...doubtColumn(doubt)], sql`, `)} FROM ${source} GROUP BY ${list}${groupOrder(keys)}${limit}`,
      ...(isUnordered ? { order: new GroupOrderPipe(this.by, this.limit) } : {}),
      streamColumns: keys.flatMap((key, index) => (key.isId === true ? [index] : [])),
      decode: (row, streams) =>
        isInDoubt(doubt, row)
          ? null
          : this.#row(
              this.by.map((name, index) => [name, keys[index]?.decode(row[index], streams) ?? ''] as const),
              Number(row[keys.length]),
            ),
    };
  }
}

function parseUniq(parser: Parser): Pipe {
  const { lexer } = parser;
  lexer.next();
  const by = byNames(lexer, ['with', 'hits', 'limit']);
  let hits: string | null = null;
  let limit = Infinity;
  for (;;) {
    if (lexer.is('with', 'hits')) {
      if (lexer.accept('with') && !lexer.is('hits')) lexer.fail('expected "hits" after "with"');
      lexer.next();
      hits = lexer.accept('as') ? fieldName(lexer) : 'hits';
    } else if (lexer.accept('limit')) limit = count(lexer, 'a number of rows after "limit"') || Infinity;
    else break;
  }
  return new UniqPipe(by, hits === null ? null : freeName(hits, by), limit);
}

const INPUT = [{ ip: '1.1.1.1' }, { ip: '2.2.2.2' }, { ip: '1.1.1.1' }];

export const uniq: PipeSpec = {
  names: ['uniq'],
  examples: [
    { query: '* | uniq by (ip)', input: INPUT, output: [{ ip: '1.1.1.1' }, { ip: '2.2.2.2' }] },
    {
      query: '* | uniq by (ip) with hits',
      input: INPUT,
      output: [
        { ip: '1.1.1.1', hits: 2 },
        { ip: '2.2.2.2', hits: 1 },
      ],
    },
  ],
  parse: parseUniq,
};

import { Literal, textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { join, sql, uint32 } from '../../pipeline/core/sql.ts';
import { FieldSet } from '../base/fields.ts';
import { isNumberPrefix } from '../values/numbers.ts';
import { compareBytes } from '../values/order.ts';
import { quote } from '../base/reserved.ts';
import { fieldText } from '../sql/text.ts';
import type { Parser, Pipe, PipeSpec, RunContext, SqlInput, SqlPipe, Stage } from '../base/types.ts';
import { byNames, count, freeName, rankName } from '../base/arguments.ts';
import { doubtColumn, groupKeys, isInDoubt } from './group.ts';
import { countEntries } from '../sql/aggregate.ts';
import { Budget, keyOf, rowOf } from '../base/rows.ts';

const DEFAULT_LIMIT = 10;

/** `top N by (a, b)`: the N groups with the most rows, most first; ties by their values. */
class TopPipe implements Pipe {
  readonly liveTail = false;
  readonly rows = 'reshaped';
  readonly by: readonly string[];
  readonly limit: number;
  readonly hits: string;
  readonly rank: string | null;
  constructor(by: readonly string[], limit: number, hits: string, rank: string | null) {
    this.by = by;
    this.limit = limit;
    this.hits = hits;
    this.rank = rank;
  }
  toString(): string {
    const rank = this.rank === null ? '' : ` rank as ${quote(this.rank)}`;
    return `top ${String(this.limit)} by (${this.by.map(quote).join(', ')}) hits as ${quote(this.hits)}${rank}`;
  }
  needs(): FieldSet {
    return FieldSet.of(this.by);
  }
  stage(context: RunContext): Stage {
    const groups = new Map<string, { readonly values: readonly string[]; hits: number }>();
    const budget = new Budget(context.memory, 'The top pipe');
    return {
      push: (row) => {
        const values = this.by.map((name) => textOf(row.get(name)));
        const key = keyOf(values);
        const group = groups.get(key);
        if (group !== undefined) group.hits += 1;
        else {
          budget.take(1, key.length * 2 + 200);
          groups.set(key, { values, hits: 1 });
        }
        return [];
      },
      flush: () => {
        const sorted = context.memory.sort([...groups.values()], (a, b) => b.hits - a.hits || compareKeys(a.values, b.values));
        return sorted.slice(0, this.limit).map(({ values, hits }, index) => this.#row(values, String(hits), index));
      },
    };
  }
  #row(values: readonly string[], hits: string, index: number): LogEntry {
    const row = rowOf(this.by.map((name, at) => [name, values[at] ?? ''] as const)).set(this.hits, new Literal(hits));
    return this.rank === null ? row : row.set(this.rank, new Literal(String(index + 1)));
  }
  get countedSpan(): number {
    return this.by.includes('_time') ? 0 : Infinity;
  }
  sql({ source, entries, context, doubt }: SqlInput): SqlPipe | null {
    const keys = groupKeys(this.by, context);
    // A stream's labels are not at hand in SQL, so ties cannot be broken by it there.
    if (keys === null || keys.length === 0 || keys.some((key) => key.isStream)) return null;
    const list = join(
      keys.map((key) => key.expression),
      sql`, `,
    );
    const ties = this.by
      .flatMap((name) => fieldText(name, context) ?? [])
      .map((value) => (keys.length === 1 ? value : sql`length(${value}), ${value}`));
    let rows = 0;
    return {
      statement: sql`SELECT ${join([list, sql`${countEntries(entries)} AS hits`, ...doubtColumn(doubt)], sql`, `)} FROM ${source} GROUP BY ${list} ORDER BY hits DESC, ${join(ties, sql`, `)} LIMIT ${uint32(Math.min(this.limit, 0xffffffff))}`,
      streamColumns: [],
      decode: (row, streams) =>
        isInDoubt(doubt, row)
          ? null
          : this.#row(
              keys.map((key, at) => key.decode(row[at], streams)),
              String(row[keys.length]),
              rows++,
            ),
    };
  }
}

/** The order of ties: of one field by its bytes; of several each by its length first. */
function compareKeys(a: readonly string[], b: readonly string[]): number {
  for (const [index, value] of a.entries()) {
    const other = b[index] ?? '';
    const order = (a.length > 1 ? Buffer.byteLength(value) - Buffer.byteLength(other) : 0) || compareBytes(value, other);
    if (order !== 0) return order;
  }
  return 0;
}

function parseTop(parser: Parser): Pipe {
  const { lexer } = parser;
  lexer.next();
  const at = lexer.save();
  const limit = isNumberPrefix(lexer.token) ? Math.trunc(count(lexer, 'a number of groups')) : DEFAULT_LIMIT;
  if (limit < 1) {
    lexer.restore(at);
    lexer.fail('expected a number of groups above 0');
  }
  const by = byNames(lexer, ['hits', 'rank']);
  if (by.length === 0) lexer.fail('expected the fields of "top"');
  let [hits, rank]: [string, string | null] = ['hits', null];
  for (;;) {
    if (lexer.accept('hits')) {
      lexer.accept('as');
      hits = lexer.compound('the name of the hits');
    } else if (lexer.is('rank')) rank = rankName(lexer);
    else break;
  }
  return new TopPipe(by, limit, freeName(hits, by), rank === null ? null : freeName(rank, by));
}

const INPUT = [{ ip: 'a' }, { ip: 'b' }, { ip: 'c' }, { ip: 'b' }];

export const top: PipeSpec = {
  names: ['top'],
  examples: [
    {
      query: '* | top 2 by (ip)',
      input: INPUT,
      output: [
        { ip: 'b', hits: 2 },
        { ip: 'a', hits: 1 },
      ],
    },
    { query: '* | top 1 by (hits) | fields hits, hitss', input: [{ hits: 'x' }], output: [{ hits: 'x', hitss: 1 }] },
    { query: '* | top 1 by (ip) hits as n rank', input: INPUT, output: [{ ip: 'b', n: 2, rank: 1 }] },
  ],
  parse: parseTop,
};

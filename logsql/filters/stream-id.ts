import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { numberSet, sql, type Sql } from '../../pipeline/core/sql.ts';
import { inChunks } from '../sql/statement-budget.ts';
import { FALSE, or } from '../sql/text.ts';
import type { Filter, FilterSpec, Parser, SqlContext } from '../base/types.ts';
import { AnyFilter } from './logic.ts';
import { SubqueryFilter, parseValues } from './in.ts';

/** 16 hex digits of the tenant, then 32 of the stream. */
const STREAM_ID = /^[0-9a-fA-F]{48}$/;

/** `_stream_id:<hex>` and `_stream_id:in(…)`. */
class StreamIdFilter implements Filter {
  readonly fields: readonly string[] = ['_stream_id'];
  readonly #ids: ReadonlySet<string>;
  constructor(ids: readonly string[]) {
    this.#ids = new Set(ids.map((id) => id.toLowerCase()));
  }
  toString(): string {
    return `_stream_id:in(${[...this.#ids].join(', ')})`;
  }
  matches(entry: LogEntry): boolean {
    return this.#ids.has(textOf(entry.get('_stream_id')));
  }
  sql(context: SqlContext): Sql {
    if (!context.table.stream.isId) return FALSE;
    const tenant = context.tenantId.toString(16).padStart(16, '0');
    const own = [...this.#ids]
      .filter((id) => id.startsWith(tenant))
      .map((id) => BigInt(`0x${id.slice(16)}`))
      .filter((id) => id < 1n << 64n);
    return or(inChunks(own.map(String)).map((ids) => sql`stream_id IN ${numberSet(ids)}`));
  }
}

function parseIds(parser: Parser): Filter {
  const { lexer } = parser;
  const at = lexer.save();
  const check = (ids: readonly string[]): Filter => {
    if (ids.every((id) => STREAM_ID.test(id))) return new StreamIdFilter(ids);
    lexer.restore(at);
    return lexer.fail('expected stream ids of 48 hex digits');
  };
  if (!lexer.is('in')) return check([lexer.compound('a stream id')]);
  const filter = parseValues(parser, '_stream_id', {
    of: (_field, values) => new StreamIdFilter(values.filter((id) => STREAM_ID.test(id))),
  });
  if (filter instanceof AnyFilter || filter instanceof SubqueryFilter) return filter;
  const end = lexer.save();
  lexer.restore(at);
  const texts: string[] = [];
  parseValues(parser, '_stream_id', {
    of: (_field, values) => {
      texts.push(...values);
      return filter;
    },
  });
  check(texts);
  lexer.restore(end);
  return filter;
}

export const streamIdField: FilterSpec = {
  names: ['_stream_id'],
  kind: 'field',
  examples: [{ query: '_stream_id:in()', input: [{ _msg: 'a' }], output: [] }],
  parse: parseIds,
};

/** Every pipe and every function of `stats`, each written so that it takes as much as it can, and rows for them. */
import type { QueryMemory } from '../../logsql/base/memory.ts';
import { Pipeline } from '../../logsql/evaluation/pipeline.ts';
import { pipes } from '../../logsql/pipes/index.ts';
import { resolveSubqueries } from '../../logsql/evaluation/subqueries.ts';
import { stats } from '../../logsql/stats/index.ts';
import { sizeOfRow } from '../../logsql/base/rows.ts';
import type { Pipe, QueryNode } from '../../logsql/base/types.ts';
import type { LogEntry } from '../../pipeline/core/entry.ts';
import { formatTime } from '../../pipeline/core/time.ts';
import { EVERYTHING, entryOf, parse, type Plain } from './support.ts';

/** How a pipe is written that takes as much memory, or makes as much of a row, as it can. */
const WORST: Readonly<Record<string, readonly string[]>> = {
  collapse_nums: ['collapse_nums prettify'],
  patterns: ['patterns', 'patterns 1000'],
  copy: ['copy m as a, m as b, m as c, m as d, m as e, m as f, m as g, m as h, m as i'],
  decolorize: ['decolorize'],
  delete: ['delete k'],
  drop_empty_fields: ['drop_empty_fields'],
  extract: ['extract "<a> <b> <c>" from m'],
  extract_regexp: ['extract_regexp "(?P<a>.*)(?P<b>x*)" from m'],
  facets: ['facets 1000 max_values_per_field 1000000000 max_value_len 1000000000'],
  field_names: ['field_names'],
  field_values: ['field_values k'],
  fields: ['fields k, m'],
  filter: ['filter m:~"(x|y)*z"'],
  first: ['first 1000000 by (k)', 'first 1 by (k) partition by (k)'],
  format: [`format "${'<m>'.repeat(50)}" as m`, 'format "<q:m><urlencode:m><hexencode:m><base64encode:m>" as m'],
  hash: ['hash(m) as h'],
  join: ['join by (nosuch) (* | fields k, m)', 'join by (k) (* | fields k, m) prefix "p"'],
  json_array_len: ['json_array_len(j) as n'],
  last: ['last 1000000 by (k)'],
  len: ['len(m) as n'],
  limit: ['limit 1000000000'],
  math: ['math k + 1 as n'],
  offset: ['offset 3'],
  pack_json: ['pack_json as m', 'pack_json as a | pack_json as b | pack_json as c | pack_json as d | pack_json as e'],
  pack_logfmt: ['pack_logfmt as m', 'pack_logfmt as a | pack_logfmt as b | pack_logfmt as c | pack_logfmt as d | pack_logfmt as e'],
  rename: ['rename m as n'],
  replace: ['replace ("x", "0123456789") at m', 'replace ("x", "xxxxxxxxxx") at m | replace ("x", "xxxxxxxxxx") at m'],
  replace_regexp: ['replace_regexp ("x", "0123456789") at m', 'replace_regexp ("(x)", "$1$1$1$1$1$1$1$1") at m'],
  sample: ['sample 1'],
  sort: ['sort by (k)', 'sort', 'sort by (k) limit 1000000000', 'sort by (k) partition by (k) limit 1'],
  stats: ['stats by (k) count() n', 'stats by (k, m) count() n', 'stats by (k:0.1) count() n'],
  stream_context: ['stream_context before 3 after 3', 'stream_context before 100000 after 100000'],
  top: ['top 1000000000 by (k)'],
  union: ['union (* | fields k, m)', 'union (*) | union (*) | sort by (k)'],
  uniq: ['uniq by (k)', 'uniq', 'uniq by (k, m) with hits'],
  unpack_json: ['unpack_json from j', 'unpack_json from o'],
  unpack_logfmt: ['unpack_logfmt from m', 'unpack_logfmt from l'],
  unpack_syslog: ['unpack_syslog from m'],
  unpack_words: ['unpack_words from w as w'],
  unroll: ['unroll by (j)', 'unroll by (j) | sort by (k)'],
};
const WORST_STATS: Readonly<Record<string, string>> = {
  count_uniq: 'count_uniq(k, m)',
  count_uniq_hash: 'count_uniq_hash(k, m)',
  quantile: 'quantile(0.5, k)',
  rate: 'rate()',
  row_max: 'row_max(k)',
  row_min: 'row_min(k)',
  rate_sum: 'rate_sum(k)',
};

const MB = 1e6;
const STREAMS = 10;
/** What each row has as an entry. */
const placed = (index: number): Plain => ({
  _time: formatTime(BigInt(index) * 1_000_000_000n),
  _stream: `{s="${String(index % STREAMS)}"}`,
});

/** A word for a number, of letters that no mask of patterns takes for digits. */
const wordOf = (index: number): string => String(index).replace(/\d/g, (digit) => 'ghjkmnpqrs'.charAt(Number(digit)));

/** Rows that are asked for again and again: their texts are made once. */
function madeOnce(make: (index: number) => Plain): (index: number) => LogEntry {
  const made: Plain[] = [];
  return (index) => entryOf((made[index] ??= make(index)));
}

/** Rows to put through pipes. */
export type Input = { readonly name: string; readonly rows: number; row(index: number): LogEntry };
export const MANY: Input = {
  name: 'many different rows',
  rows: 22_000,
  row: madeOnce((index) => ({
    ...placed(index),
    _msg: wordOf(index),
    k: String(index),
    m: `x ${String(index)}`,
    [`f${String(index)}`]: 'x',
  })),
};
export const LARGE: Input = {
  name: 'one large value of each kind',
  rows: 3,
  row: madeOnce((index) => ({
    ...placed(index),
    k: String(index),
    m: 'x'.repeat(1.9 * MB),
    j: `[${'1,'.repeat(0.9 * MB)}1]`,
    o: `{${Array.from({ length: 150_000 }, (_none, n) => `"${String(n)}":1`).join(',')}}`,
    l: Array.from({ length: 150_000 }, (_none, n) => `${String(n)}=1`).join(' '),
    w: 'a '.repeat(0.9 * MB),
  })),
};

/** What is put through: the queries of each pipe over both inputs, and each function in many groups and in one. */
export const WORST_CASES: readonly (readonly [query: string, input: Input])[] = [
  ...pipes.members.flatMap(({ names: [name = ''] }) =>
    (WORST[name] ?? [`${name} (add it to WORST in test/logsql/worst.ts)`]).flatMap((query) =>
      [MANY, LARGE].map((input) => [query, input] as const),
    ),
  ),
  ...stats.members.flatMap(({ names: [name = ''] }) => {
    const call = WORST_STATS[name] ?? `${name}(k, m)`;
    return [[`stats by (k) ${call} s`, MANY] as const, [`stats ${call} s`, MANY] as const, [`stats ${call} s`, LARGE] as const];
  }),
];

/** The pipes of a query, each over the same few rows where it asks for other rows. */
export async function worstPipes(query: string, { rows, row }: Input): Promise<readonly Pipe[]> {
  const others = (): LogEntry[] => Array.from({ length: Math.min(rows, 500) }, (_none, index) => row(index));
  return (await resolveSubqueries(parse(`* | ${query}`), () => Promise.resolve(others()))).pipes;
}

/** Rows on their way through pipes: `push` one by one, then `flush`. */
export type Way = { push(row: LogEntry): void; flush(): Promise<void>; readonly done: boolean };

/** The way through these pipes. One that looks beyond its rows looks at all rows of the input, once they are all there. */
export function wayThrough([first, ...rest]: readonly Pipe[], input: Input, memory: QueryMemory, sink: (row: LogEntry) => void): Way {
  const context = { ...EVERYTHING, memory };
  if (first?.expand === undefined) {
    const pipeline = new Pipeline(first === undefined ? rest : [first, ...rest], context, sink);
    return {
      push: (row) => {
        pipeline.push(row);
      },
      flush: () => {
        pipeline.flush();
        return Promise.resolve();
      },
      get done() {
        return pipeline.done;
      },
    };
  }
  const matching: LogEntry[] = [];
  const pipeline = new Pipeline(rest, context, sink);
  return {
    done: false,
    push: (row) => {
      memory.hold('The stream_context pipe', 1, sizeOfRow(row));
      matching.push(row);
    },
    flush: async () => {
      const all = Array.from({ length: input.rows }, (_none, index) => input.row(index));
      const run = ({ filter }: QueryNode): Promise<readonly LogEntry[]> =>
        Promise.resolve(all.filter((row) => filter.matches(row)).reverse());
      for (const row of (await first.expand?.(matching.toReversed(), run, context)) ?? []) pipeline.push(row);
      pipeline.flush();
    },
  };
}

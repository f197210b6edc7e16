import { renderValue, textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { formatTime, parseTime } from '../../pipeline/core/time.ts';
import { parseQuery } from '../../logsql/parser/parser.ts';
import { Query } from '../../logsql/base/query.ts';
import { quote } from '../../logsql/base/reserved.ts';
import { rowsOf, type Deps, type Request } from '../query/deps.ts';
import { STEPS, type HitsParameters } from '../query/parameters.ts';
import { readWindow, windowMember, type Window } from '../query/window.ts';

/** More buckets than this are not filled with zeroes. */
const MAX_FILLED = 50_000;

/** `GET /hits` and `GET /spans/hits`: entries counted in steps aligned to the epoch in UTC, grouped by fields where requested. Pipes of the query are dropped. */
export async function hits(parameters: HitsParameters, request: Request, deps: Deps): Promise<string> {
  const { step, fields_by: fields } = parameters;
  const window = readWindow(parameters.start, parameters.end, deps.now(), request.retentionDays);
  const { filter, options } = parseQuery(parameters.query, { now: window.now });
  const { pipes } = parseQuery(`* | stats by (${[`_time:${step}`, ...fields.map(quote)].join(', ')}) count() as hits`, { now: window.now });
  const rows = await rowsOf(new Query(options, filter, pipes), window, request, deps);
  const buckets = rows.map((row) => ({ time: textOf(row.get('_time')), row })).sort((a, b) => nanoseconds(a.time) - nanoseconds(b.time));
  const filled = fields.length === 0 ? fill(buckets, BigInt(STEPS[step] ?? 60) * 1_000_000_000n, window) : buckets;
  return `{"hits":[${filled.map(({ time, row }) => renderBucket(time, row, fields)).join(',')}],${windowMember(window)}}`;
}

const nanoseconds = (time: string): number => Number(parseTime(time) ?? 0n);

type TimedRow = { readonly time: string; readonly row: LogEntry | null };

/** Every bucket of the window, with 0 where nothing was counted; those with hits alone when there would be too many. */
function fill(buckets: readonly TimedRow[], step: bigint, { start, end }: Window): readonly TimedRow[] {
  const first = start - (((start % step) + step) % step);
  const count = (end - first) / step + 1n;
  if (count > BigInt(MAX_FILLED)) return buckets;
  const known = new Map(buckets.map((bucket) => [bucket.time, bucket]));
  return Array.from({ length: Number(count) }, (_none, index) => {
    const time = formatTime(first + BigInt(index) * step);
    return known.get(time) ?? { time, row: null };
  });
}

/** The label set is in `stream`; other fields under their own names, '' where an entry lacks them. */
function renderBucket(time: string, row: LogEntry | null, fields: readonly string[]): string {
  const groups = fields.map((field) => `,${JSON.stringify(field === '_stream' ? 'stream' : field)}:${renderValue(row?.get(field) ?? '')}`);
  return `{"time":${JSON.stringify(time)},"hits":${textOf(row?.get('hits')) || '0'}${groups.join('')}}`;
}

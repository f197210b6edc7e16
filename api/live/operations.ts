/** What a tail requests from the query workers: parsing its query, and stored entries. */
import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { invalidParameter } from '../../pipeline/core/errors.ts';
import { MAX_TIME, MIN_TIME } from '../../pipeline/core/time.ts';
import { allOf } from '../../logsql/filters/logic.ts';
import { Pipeline, hasValues } from '../../logsql/evaluation/pipeline.ts';
import { sizeOfRow, sizeOfText } from '../../logsql/base/rows.ts';
import { planQuery } from '../../logsql/planner/planner.ts';
import { Query } from '../../logsql/base/query.ts';
import type { Filter, Pipe } from '../../logsql/base/types.ts';
import { planOptions, type Deps, type Request } from '../query/deps.ts';
import type { EngineAnswer } from '../query/engine.ts';
import { renderResult } from '../query/render.ts';
import { rows } from '../query/rows.ts';
import { subqueryRunner } from '../query/run.ts';
import { readWindow } from '../query/window.ts';
import { renderTexts } from '../select/lines.ts';
import { extraFilters } from '../select/extra-filters.ts';
import { parseLive, type LiveQueryText } from './match/live-query.ts';
import { subqueriesOf, withValues } from './match/subquery-values.ts';
import { PlaceFilter } from './place/place-filter.ts';
import type { LogVector } from './place/log-place.ts';

export type OpenLive = Pick<LiveQueryText, 'query' | 'extra'> & {
  /** As windows have it; null for no entries that are stored. */ readonly since: string | null;
};

/** What is known of a query that is to be followed: the values of the queries inside it, and when its first entries are (nanoseconds). */
export type OpenedLive = { readonly values: readonly (readonly string[])[]; readonly start: string | null };

/** Most characters of the values of the queries inside one that is followed. */
const MAX_VALUES = 1_000_000;
/** The window of queries inside of a query that names none. */
const SUBQUERY_WINDOW = '-1h';

/** Ends the rows of an entry; no JSON has it. */
export const ENTRY_END = '\u001e';
/** The header that marks that older entries match, and are not given. */
export const CUT_HEADER = 'X-Backfill-Cut';

/** Reads a query that is to be followed, and runs the queries inside of it. Throws HttpError 400 and LogsqlSyntaxError. */
export async function openLive({ query: text, extra, since }: OpenLive, request: Request, deps: Deps): Promise<string> {
  if (text.trim() === '') throw invalidParameter('query is empty; use "*" for all entries.');
  const now = deps.now();
  const query = parseLive(text, now);
  if (extra !== undefined) extraFilters(new URLSearchParams([...extra]), now);
  const window = readWindow(since ?? SUBQUERY_WINDOW, 'now', now, request.retentionDays);
  const run = subqueryRunner(planOptions(window, request, deps), deps.runner(request));
  const values: string[][] = [];
  let length = 0;
  for (const { query: inner, field } of subqueriesOf(query)) {
    const found = new Set((await run(inner)).map((row) => textOf(row.get(field))));
    for (const value of found) length += value.length;
    if (length > MAX_VALUES) throw invalidParameter(`The queries inside a live tail give more than ${String(MAX_VALUES)} characters.`);
    values.push([...found]);
  }
  return JSON.stringify({ values, start: since === null ? null : String(window.start) } satisfies OpenedLive);
}

export type Backfill = LiveQueryText & {
  /** The time of the first entries (nanoseconds), and up to which ones; null for all. */
  readonly start: string | null;
  readonly end: string | null;
  /** The places in the log from which on they are wanted, and before which. */
  readonly from: LogVector | null;
  readonly until: LogVector;
  /** At most `limit` of the newest, of which the first `skip` were given already. */
  readonly limit: number;
  readonly skip: number;
};

/** Stored entries that match, the oldest first, each with ENTRY_END behind it: always the same ones in the same order. */
export async function backfill(wanted: Backfill, request: Request, deps: Deps): Promise<EngineAnswer> {
  const { texts, isCut } = await newest(wanted, request, deps);
  return { headers: isCut ? { [CUT_HEADER]: '1' } : {}, stream: pieces(texts.slice(wanted.skip)) };
}

async function newest(
  wanted: Backfill,
  request: Request,
  deps: Deps,
): Promise<{ readonly texts: readonly string[]; readonly isCut: boolean }> {
  const now = deps.now();
  const { filter, pipes } = withValues(parseLive(wanted.query, now), wanted.values);
  const at = pipes.findIndex(losesPlace);
  const [first, rest] = at < 0 ? [pipes, []] : [pipes.slice(0, at), pipes.slice(at)];
  const also = wanted.extra === undefined ? null : extraFilters(new URLSearchParams([...wanted.extra]), now);
  const own = request.narrowedTo === null ? [] : [request.narrowedTo];
  const extra: Filter[] = [new PlaceFilter(wanted.from, wanted.until), ...own, ...(also === null ? [] : [also])];
  const window = {
    start: wanted.start === null ? MIN_TIME : BigInt(wanted.start),
    end: wanted.end === null ? MAX_TIME : BigInt(wanted.end),
    now,
  };
  const options = {
    ...planOptions(window, request, deps),
    cover: null,
    extra: allOf(extra),
    ...(wanted.asTexts ? { streamIds: true as const } : {}),
  };
  const plan = planQuery(new Query({}, filter, first), options);
  if (plan.kind !== 'entries') throw new Error('BUG: a query that can be followed has no plan of entries.');
  const run = subqueryRunner(options, deps.runner(request));
  const found: LogEntry[] = [];
  // one more row shows whether there are more
  for await (const chunk of rows({ plan, run }, deps.runner(request), { limit: wanted.limit + 1, keepsEmpty: true }))
    for (const row of chunk.rows) {
      deps.memory.hold('The stored entries of the tail', 1, sizeOfRow(row));
      found.push(row);
    }
  const isCut = found.length > wanted.limit;
  return { texts: rendered(found.slice(0, wanted.limit).reverse(), rest, wanted.asTexts, deps), isCut };
}

/** The rows of each entry as JSON, one a line; an entry of which no row is left is omitted. */
function rendered(entries: readonly LogEntry[], pipes: readonly Pipe[], asTexts: boolean, deps: Deps): string[] {
  let lines: string[] = [];
  const { memory } = deps;
  const pipeline = new Pipeline(pipes, { memory, start: MIN_TIME, end: MAX_TIME }, (row) => {
    if (!hasValues(row)) return;
    const text = asTexts ? renderTexts(row) : renderResult(row);
    memory.hold('The stored entries of the tail', 1, sizeOfText(text));
    lines.push(text);
  });
  return entries.flatMap((entry) => {
    lines = [];
    pipeline.push(entry);
    return lines.length === 0 ? [] : [lines.join('\n')];
  });
}

function* pieces(texts: readonly string[]): Generator<string> {
  for (const text of texts) yield text + ENTRY_END;
}

/** True for a pipe after which a row has no place among the entries any more. */
const losesPlace = (pipe: Pipe): boolean => pipe.rows === 'more' || pipe.dropsTime === true;

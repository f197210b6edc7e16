import type { TimeWindow } from '../../logsql/base/time-window.ts';
import type { Table } from '../../logsql/base/table.ts';
import { FieldSet } from '../../logsql/base/fields.ts';
import { Query } from '../../logsql/base/query.ts';
import { allOf } from '../../logsql/filters/logic.ts';
import { parseQuery } from '../../logsql/parser/parser.ts';
import { foundSessions, repeatedSessions, sessionsTable } from '../../logsql/sql/sessions-table.ts';
import { oneOf } from '../../logsql/sql/statement-budget.ts';
import { momentSql } from '../../logsql/sql/time.ts';
import { conjunction, int64, ofTenant, sql, text, uint32, type Sql } from '../../pipeline/core/sql.ts';
import { textOf } from '../../pipeline/core/entry.ts';
import { HttpError } from '../../pipeline/core/errors.ts';
import { planOptions, type Deps, type Request } from '../query/deps.ts';
import type { EngineAnswer } from '../query/engine.ts';
import { renderResult } from '../query/render.ts';
import { rows } from '../query/rows.ts';
import { prepare } from '../query/run.ts';
import { tenantRows } from '../query/tenant-rows.ts';
import { readCursor, readWindow, retentionFloor, type Window } from '../query/window.ts';
import { search } from '../search/search.ts';
import type { SessionsParameters } from './parameters.ts';

/** The longest session: of one that begins in a window no row lies further away, nor its tombstone. Nanoseconds. */
const LONGEST = 12n * 3_600_000_000_000n;

const near = ({ start, end }: TimeWindow): readonly Sql[] => [
  sql`first >= ${momentSql(start - LONGEST)}`,
  sql`first <= ${momentSql(end + LONGEST)}`,
];

/**
 * The projection `sessions` (logsql/sql/sessions-table.ts) knows of spans of 2^22 milliseconds, some 70 minutes. The expression is one that ClickHouse does not work out
 * for each granule of the table: a division took 400 ms of planning.
 */
const SPAN_BITS = 22n;
const SPAN = 1_000_000n << SPAN_BITS;
const SPAN_OF_ROW = sql`bitShiftRight(toUnixTimestamp64Milli(first), 22)`;
const spans = (from: bigint, to: bigint): readonly Sql[] => [
  sql`${SPAN_OF_ROW} >= ${int64(spanOf(from))}`,
  sql`${SPAN_OF_ROW} <= ${int64(spanOf(to))}`,
];
const spanOf = (ns: bigint): bigint => (ns - (((ns % SPAN) + SPAN) % SPAN)) / SPAN;

/** Sessions with copies of rows that a statement names; with more of them it looks at all rows for copies. */
const MOST_REPEATED = 1000;

/** What is the same of a session whether copies of its rows are told apart or not. */
const SAME_WITH_COPIES = new Set(
  ['_time', '_msg', '_stream', 'session_id', 'end', 'duration_ms', 'url', 'urls', 'pages', 'user', 'service', 'version'], // prettier-ignore
);

/**
 * `GET …/replay/sessions`: sessions that begin in a window and match, newest first: an answer of `/search`. Where it can, it first finds which ones
 * those of the page are, by the columns that decide it, and then looks at their rows alone.
 */
export async function listSessions(
  { filter, ...parameters }: SessionsParameters,
  request: Request,
  deps: Deps,
): Promise<string | EngineAnswer> {
  const window = readWindow(parameters.start, parameters.end, deps.now(), request.retentionDays);
  const given = parseQuery(parameters.query, { now: window.now });
  // what parameters ask for (some error, a length, a user) holds with copies if it holds without
  const isFoundFirst = given.pipes.length === 0 && given.filter.fields.every((field) => SAME_WITH_COPIES.has(field));
  const query =
    filter === '' ? given : new Query(given.options, allOf([parseQuery(filter, { now: window.now }).filter, given.filter]), given.pipes);
  const table = isFoundFirst
    ? tableOf(await sessionsOfPage({ query, window, parameters }, request, deps), window, request)
    : await tableOfAll(window, request, deps);
  return search({ ...parameters, query: query.toString(), enrich: false }, request, { ...deps, table });
}

/** These sessions, of those that begin in a window. */
const tableOf = (ids: readonly string[], window: TimeWindow, { tenantId }: Request): Table =>
  sessionsTable(tenantId, [...near(window), oneOf(sql`session`, ids)], 'few');

/** All sessions that begin in a window. */
async function tableOfAll(window: TimeWindow, request: Request, deps: Deps): Promise<Table> {
  const where = conjunction([ofTenant(request.tenantId), ...near(window)]);
  const repeated = (await tenantRows(repeatedSessions(where, MOST_REPEATED + 1), request, deps)).map(([id]) => String(id));
  return sessionsTable(request.tenantId, near(window), repeated.length > MOST_REPEATED ? null : repeated);
}

type Page = {
  readonly query: Query;
  readonly window: Window;
  readonly parameters: Pick<SessionsParameters, 'limit' | 'before'>;
};

/** The end of a window that is looked at first is one part in so many. */
const NEWEST_PART = 8n;

/**
 * The ids of the sessions of a page and of the next one. The end of the window is looked at first, from the beginning of a span on: of a session that begins there all
 * rows are later. Where they are enough, and none of them has begun before, they are the newest of the window. A user has few sessions: then it is not looked at.
 */
async function sessionsOfPage(page: Page, request: Request, deps: Deps): Promise<string[]> {
  const { query, window, parameters } = page;
  const before = parameters.before === null ? undefined : readCursor(parameters.before);
  const cut = before === undefined ? window.end : typeof before === 'bigint' ? before : BigInt(before.time);
  const end = cut < window.end ? cut : window.end;
  const start = SPAN * spanOf(end - (end - window.start) / NEWEST_PART);
  if (start > window.start && !query.filter.fields.includes('user')) {
    const newest = await foundIn({ ...page, window: { ...window, start, end } }, spans(start, end + LONGEST), request, deps);
    if (newest.length > parameters.limit && !(await haveBegunBefore(newest, start, request, deps))) return newest;
  }
  return foundIn({ ...page, window: { ...window, end } }, spans(window.start - LONGEST, end + LONGEST), request, deps);
}

/** The newest sessions of a window by these rows, one more than a page has. */
async function foundIn({ query, window, parameters }: Page, conditions: readonly Sql[], request: Request, deps: Deps): Promise<string[]> {
  const table = foundSessions(request.tenantId, conditions);
  const narrow = parseQuery(`${query.toString()} | fields session_id, _time`, { now: window.now });
  const before = parameters.before === null ? {} : { before: readCursor(parameters.before) };
  const runner = deps.runner(request);
  const prepared = await prepare(narrow, { ...planOptions(window, request, { ...deps, table }), ...before }, runner);
  const ids: string[] = [];
  for await (const { rows: found } of rows(prepared, runner, { limit: parameters.limit + 1 }))
    ids.push(...found.map((row) => textOf(row.get('session_id'))));
  return ids;
}

/** Whether one of these sessions has rows before a moment. */
async function haveBegunBefore(ids: readonly string[], moment: bigint, request: Request, deps: Deps): Promise<boolean> {
  const where = conjunction([
    ...[ofTenant(request.tenantId), oneOf(sql`session`, ids)],
    ...[sql`first >= ${momentSql(moment - LONGEST)}`, sql`first < ${momentSql(moment)}`],
  ]);
  return (await tenantRows(sql`SELECT 1 FROM replay_chunks WHERE ${where} LIMIT 1`, request, deps)).length > 0;
}

/** `GET …/replay/sessions/{session}`: what a list shows of a session. */
export async function showSession({ session }: { readonly session: string }, request: Request, deps: Deps): Promise<string> {
  const table = sessionsTable(request.tenantId, [sql`session = ${text(session)}`]);
  const columns = table.entryColumns(FieldSet.all, request.tenantId);
  const floor = retentionFloor(deps.now(), request.retentionDays);
  const where = conjunction([ofTenant(request.tenantId), ...(floor === null ? [] : [sql`_time >= ${momentSql(floor)}`])]);
  const [row] = await tenantRows(sql`SELECT ${columns.list} FROM ${table.from} WHERE ${where}`, request, deps);
  if (row === undefined) throw noSession(session);
  return renderResult(columns.decode(row, new Map()));
}

/** What is looked up of a session before anything is done with it. Times are milliseconds. */
export type SessionBounds = {
  readonly start: number;
  readonly end: number;
  /** The class that keeps its rows longest; 0 for ever. */
  readonly retentionDays: number;
  readonly user: string;
  readonly traceIds: readonly string[];
};

/** Traces of a session that are looked for. */
const MAX_SESSION_TRACES = 1000;

/** The rows of a session. */
export const ofSession = (session: string, { tenantId }: Request): Sql =>
  conjunction([ofTenant(tenantId), sql`session = ${text(session)}`]);

/** Throws HttpError 404 for a session that the tenant does not have, or not any more. */
export async function boundsOfSession(session: string, request: Request, deps: Deps): Promise<SessionBounds> {
  const statement = sql`SELECT count(), max(kind), toUnixTimestamp64Milli(min(first)), toUnixTimestamp64Milli(max(last)), min(retention_days), max(retention_days), argMaxIf(user, last, notEmpty(user)), groupUniqArrayArray(${uint32(MAX_SESSION_TRACES)})(trace_ids) FROM replay_chunks WHERE ${ofSession(session, request)}`;
  const [row = []] = await tenantRows(statement, request, deps);
  const [count, kind, start, end, least, most] = row.slice(0, 6).map(Number);
  const floor = retentionFloor(deps.now(), request.retentionDays);
  if (count === 0 || kind !== 0 || start === undefined || (floor !== null && BigInt(start) * 1_000_000n < floor)) throw noSession(session);
  const retentionDays = least === 0 ? 0 : (most ?? 0);
  return { start, end: end ?? start, retentionDays, user: String(row[6]), traceIds: row[7] as string[] };
}

/** What a deletion needs to know of a session, as JSON. */
export const findSession = async ({ session }: { readonly session: string }, request: Request, deps: Deps): Promise<string> =>
  JSON.stringify(await boundsOfSession(session, request, deps));

const noSession = (session: string): HttpError => new HttpError(404, 'not_found', `There is no session ${session}.`);

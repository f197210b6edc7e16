/** Runs plans against ClickHouse: rows in chunks, stream ids to their texts, what is left of the query in memory. */
import type { LogEntry } from '../../pipeline/core/entry.ts';
import { LogsqlLimitError, LogsqlSyntaxError } from '../../logsql/errors.ts';
import { Pipeline, hasValues, throughPipes } from '../../logsql/pipeline.ts';
import { Query } from '../../logsql/query.ts';
import { planQuery, type Plan, type PlanOptions, type Position } from '../../logsql/planner.ts';
import { resolveSubqueries } from '../../logsql/subqueries.ts';
import type { Ask, Pipe, QueryNode, RunContext, RunRows } from '../../logsql/types.ts';
import { HttpError, invalidParameter, queryTimeout } from '../../pipeline/core/errors.ts';
import type { QueryOptions, Row, Store } from '../../pipeline/store/client.ts';
import type { StreamDirectory } from './streams.ts';

/** What running a query takes. */
export type Runner = {
  readonly store: Store;
  readonly streams: StreamDirectory;
  readonly options: QueryOptions;
  readonly keepsEmpty?: boolean;
  /** Told of the pipes that rows go through in this process from now on. */
  readonly onPipes?: ((pipes: readonly Pipe[]) => void) | undefined;
};

/** Rows of an answer, whether there are more, and where the last entry stands (with that of the next one). */
export type Found = {
  readonly rows: LogEntry[];
  readonly hasMore: boolean;
  readonly last: Position | null;
  readonly next: Position | null;
  readonly kind: Plan['kind'];
};

/** First page when rows may be dropped in memory, and how pages grow until enough are found. */
const FIRST_PAGE = 1000;
const PAGE_GROWTH = 4;
const MAX_PAGE = 64_000;

/** The entries of a page as JSON texts, in place of `rows`. */
export type FoundTexts = Omit<Found, 'rows'> & { readonly texts: readonly string[] };

/** Plans and runs a query, with its subqueries, and gives at most `limit` rows; rows without any value are left out. */
export async function runQuery(query: QueryNode, options: PlanOptions, runner: Runner, limit: number): Promise<Found> {
  return runPrepared(await prepareQuery(query, options, runner), runner, limit);
}

/** A query that is planned, or whose rows are known already. */
export type Prepared = Plan | readonly LogEntry[];

/** Runs what is prepared and gives at most `limit` rows. */
export async function runPrepared(prepared: Prepared, runner: Runner, limit: number): Promise<Found> {
  if ('statement' in prepared) return runPlan(prepared, runner, limit);
  return { rows: prepared.slice(0, limit), hasMore: prepared.length > limit, last: null, next: null, kind: 'rows' };
}

/** Runs the subqueries of a query and plans it; where its first pipe looks beyond what matches, its rows. */
export async function prepareQuery(query: QueryNode, options: PlanOptions, runner: Runner): Promise<Plan | LogEntry[]> {
  const run = subqueryRunner(options, runner);
  const resolved = await resolveSubqueries(query, run);
  // A query may say that it looks at all times, not at the window of the request.
  const { start, end } = query.options.ignoreGlobalTimeFilter === true ? options.widest : options;
  const [first, ...rest] = resolved.pipes;
  if (first?.expand === undefined) return planQuery(resolved, { ...options, start, end });
  runner.onPipes?.(resolved.pipes);
  const matching = await run(new Query(resolved.options, resolved.filter, []));
  runner.onPipes?.(resolved.pipes);
  return throughPipes(rest, await first.expand(matching, run), { limits: options.limits, start, end }).filter(hasValues);
}

/** Runs queries inside a query. */
export function subqueryRunner(options: PlanOptions, runner: Runner): RunRows {
  const inner = withoutCursor(options);
  return async (subquery) => {
    // A row without the field counts here: it makes the filter match entries that lack theirs.
    const found = await runQuery(subquery, inner, { ...runner, keepsEmpty: true }, inner.limits.maxRows);
    if (found.hasMore) throw new LogsqlLimitError(`A query inside another one gave more than ${String(inner.limits.maxRows)} rows.`);
    return found.rows;
  };
}

/** The cursor is for the outer query alone. */
function withoutCursor(options: PlanOptions): PlanOptions {
  const { tenantId, start, end, widest, limits, extra } = options;
  return { tenantId, start, end, widest, limits, ...(extra === undefined ? {} : { extra }) };
}

/** Runs a plan; where it does not hold for the data, its fallback. */
export async function runPlan(plan: Plan, runner: Runner, limit: number): Promise<Found> {
  const found = plan.kind === 'entries' && !plan.limitInSql ? await runPages(plan, runner, limit) : await runOnce(plan, runner, limit);
  if (found !== null) return found;
  if (plan.fallback === null) throw new Error('BUG: a plan without a fallback did not hold.');
  return runPlan(plan.fallback, runner, limit);
}

/** Runs a plan of whole entries without looking into them; null where it is not one, or has too many values for that. */
export async function runTexts(plan: Plan, { store, streams, options }: Runner, limit: number): Promise<FoundTexts | null> {
  const { render } = plan;
  const chunks = render === undefined ? null : store.texts(plan.statement(limit + 1), options);
  if (render === undefined || chunks === null) return null;
  const texts: string[] = [];
  let [last, next]: [Position | null, Position | null] = [null, null];
  const positionOf = (row: readonly string[]): Position => plan.position(row.map((text) => JSON.parse(text) as unknown));
  for await (const rows of chunks) {
    const names = await streams.resolve(
      idsIn(rows, plan.streamColumns).map((id) => id.slice(1, -1)),
      plan.run,
      options,
    );
    const room = limit - texts.length;
    for (const row of rows.slice(0, room)) texts.push(render(row, names));
    const [lastRow, nextRow] = [rows[Math.min(room, rows.length) - 1], rows[room]];
    if (lastRow !== undefined) last = positionOf(lastRow);
    if (nextRow !== undefined) next = positionOf(nextRow);
  }
  return { texts, hasMore: next !== null, last, next, kind: plan.kind };
}

type Collected = { readonly row: LogEntry; readonly position: Position | null };

async function runOnce(plan: Plan, runner: Runner, limit: number): Promise<Found | null> {
  const collected: Collected[] = [];
  if (plan.gather !== undefined) {
    const gathered = await plan.gather(askOf(runner, plan.run));
    if (gathered === null) return null;
    runner.onPipes?.(plan.pipes);
    const rows = throughPipes(plan.pipes, gathered, plan.run).filter((row) => runner.keepsEmpty === true || hasValues(row));
    return toFound(
      plan,
      rows.map((row) => ({ row, position: null })),
      limit,
    );
  }
  const most = plan.limitInSql ? limit + 1 : null;
  const read = await feed(plan, runner, most, undefined, limit, collected);
  if (read === null) return null;
  // Rows without any value (`* | fields rare`) were counted by the SELECT and then left out: once more, as far as it takes.
  if (read.rows === most && collected.length < most) {
    collected.length = 0;
    if ((await feed(plan, runner, null, undefined, limit, collected)) === null) return null;
  }
  return toFound(plan, collected, limit);
}

/** Statements of a plan that has several. */
function askOf({ store, streams, options }: Runner, window: RunContext): Ask {
  return {
    rows: (statement) => store.rows(statement, options),
    sample: (statement, entries) => {
      const settings = { ...options.settings, max_rows_to_read: String(entries), read_overflow_mode: 'break' as const, max_threads: 1 };
      return store.rows(statement, { ...options, settings });
    },
    streams: (ids) => streams.resolve(ids, window, options),
  };
}

/** Page after page of entries until enough came through the pipes. */
async function runPages(plan: Plan, runner: Runner, limit: number): Promise<Found | null> {
  const collected: Collected[] = [];
  let after: Position | undefined;
  for (let size = Math.max(FIRST_PAGE, limit + 1); ; size = Math.min(MAX_PAGE, size * PAGE_GROWTH)) {
    const read = await feed(plan, runner, size, after, limit, collected);
    if (read === null) return null;
    if (read.rows < size || collected.length > limit || read.last === null) return toFound(plan, collected, limit);
    after = read.last;
  }
}

function toFound(plan: Plan, collected: readonly Collected[], limit: number): Found {
  const kept = collected.slice(0, limit);
  return {
    rows: kept.map(({ row }) => row),
    hasMore: collected.length > limit,
    last: kept.at(-1)?.position ?? null,
    next: collected[limit]?.position ?? null,
    kind: plan.kind,
  };
}

/** Reads one SELECT through the pipes until more than `limit` rows came out; null when the plan does not hold. */
async function feed(
  plan: Plan,
  runner: Runner,
  sqlLimit: number | null,
  after: Position | undefined,
  limit: number,
  out: Collected[],
): Promise<{ readonly rows: number; readonly last: Position | null } | null> {
  let rows = 0;
  let position: Position | null = null;
  runner.onPipes?.(plan.pipes);
  const pipeline = new Pipeline(plan.pipes, plan.run, (row) => {
    if (runner.keepsEmpty === true || hasValues(row)) out.push({ row, position });
  });
  // Entries without a limit should come as they are found, not after all of them.
  const isStream = sqlLimit === null && plan.pipes.length > 0;
  const settings = isStream ? { ...runner.options.settings, wait_end_of_query: 0 } : runner.options.settings;
  const options = settings === undefined ? runner.options : { ...runner.options, settings };
  for await (const chunk of runner.store.query(plan.statement(sqlLimit, after), options)) {
    const streams = await runner.streams.resolve(idsIn(chunk, plan.streamColumns), plan.run, runner.options);
    for (const row of chunk) {
      const entry = plan.decode(row, streams);
      if (entry === null) return null;
      rows += 1;
      if (plan.kind === 'entries') position = plan.position(row);
      if (entry instanceof Map) pipeline.push(entry);
      else for (const part of entry) pipeline.push(part);
      if (out.length > limit || pipeline.done) break;
    }
    if (out.length > limit || pipeline.done) break;
  }
  if (out.length <= limit) pipeline.flush();
  return { rows, last: position };
}

/** The stream ids in these columns. */
export const idsIn = (rows: readonly Row[], columns: readonly number[]): string[] =>
  columns.flatMap((column) => rows.map((row) => String(row[column])));

/** What an analyst is told of an error of the language; others are passed on. */
export function toQueryError(error: unknown): unknown {
  if (error instanceof HttpError) return error;
  if (error instanceof LogsqlSyntaxError) return invalidParameter(`${error.message}.`);
  return error instanceof LogsqlLimitError ? queryTimeout(error.message) : error;
}

/** Runs plans against ClickHouse: rows in chunks, stream ids to their texts, what is left of the query in memory. */
import type { LogEntry } from '../../pipeline/core/entry.ts';
import { LogsqlLimitError, LogsqlSyntaxError } from '../../logsql/errors.ts';
import { Pipeline, hasValues, throughPipes } from '../../logsql/pipeline.ts';
import { Query } from '../../logsql/query.ts';
import { planQuery, type Plan, type PlanOptions, type Position } from '../../logsql/planner.ts';
import { resolveSubqueries } from '../../logsql/subqueries.ts';
import type { QueryNode } from '../../logsql/types.ts';
import { HttpError, invalidParameter, queryTimeout } from '../../pipeline/core/errors.ts';
import type { QueryOptions, Row, Store } from '../../pipeline/store/client.ts';
import type { StreamDirectory } from './streams.ts';

/** What running a query takes. */
export type Runner = {
  readonly store: Store;
  readonly streams: StreamDirectory;
  readonly options: QueryOptions;
  readonly keepsEmpty?: boolean;
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

/** Plans and runs a query, with its subqueries, and gives at most `limit` rows; rows without any value are left out. */
export async function runQuery(query: QueryNode, options: PlanOptions, runner: Runner, limit: number): Promise<Found> {
  const inner = withoutCursor(options);
  const run = async (subquery: QueryNode): Promise<readonly LogEntry[]> => {
    // A row without the field counts here: it makes the filter match entries that lack theirs.
    const found = await runQuery(subquery, inner, { ...runner, keepsEmpty: true }, inner.limits.maxRows);
    if (found.hasMore) throw new LogsqlLimitError(`A query inside another one gave more than ${String(inner.limits.maxRows)} rows.`);
    return found.rows;
  };
  const resolved = await resolveSubqueries(query, run);
  // A query may say that it looks at all times, not at the window of the request.
  const window = query.options.ignoreGlobalTimeFilter === true ? options.widest : options;
  const [first, ...rest] = resolved.pipes;
  if (first?.expand === undefined) return runPlan(planQuery(resolved, { ...options, start: window.start, end: window.end }), runner, limit);
  const matching = await run(new Query(resolved.options, resolved.filter, []));
  const rows = throughPipes(rest, await first.expand(matching, run), {
    limits: options.limits,
    start: window.start,
    end: window.end,
  }).filter(hasValues);
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit, last: null, next: null, kind: 'rows' };
}

/** The cursor is for the outer query alone. */
function withoutCursor({ tenantId, start, end, widest, limits }: PlanOptions): PlanOptions {
  return { tenantId, start, end, widest, limits };
}

/** Runs a plan; where it does not hold for the data, its fallback. */
export async function runPlan(plan: Plan, runner: Runner, limit: number): Promise<Found> {
  const found = plan.kind === 'entries' && !plan.limitInSql ? await runPages(plan, runner, limit) : await runOnce(plan, runner, limit);
  if (found !== null) return found;
  if (plan.fallback === null) throw new Error('BUG: a plan without a fallback did not hold.');
  return runPlan(plan.fallback, runner, limit);
}

type Collected = { readonly row: LogEntry; readonly position: Position | null };

async function runOnce(plan: Plan, runner: Runner, limit: number): Promise<Found | null> {
  const collected: Collected[] = [];
  const finished = await feed(plan, runner, plan.limitInSql ? limit + 1 : null, undefined, limit, collected);
  return finished === null ? null : toFound(plan, collected, limit);
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
  const pipeline = new Pipeline(plan.pipes, plan.run, (row) => {
    if (runner.keepsEmpty === true || hasValues(row)) out.push({ row, position });
  });
  // Without a limit rows should come as they are found, not after all of them.
  const settings = sqlLimit === null ? { ...runner.options.settings, wait_end_of_query: 0 as const } : runner.options.settings;
  const options = settings === undefined ? runner.options : { ...runner.options, settings };
  for await (const chunk of runner.store.query(plan.statement(sqlLimit, after), options)) {
    const streams = await runner.streams.resolve(idsIn(chunk, plan.streamColumns), runner.options);
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

const idsIn = (rows: readonly Row[], columns: readonly number[]): string[] =>
  columns.flatMap((column) => rows.map((row) => String(row[column])));

/** What an analyst is told of an error of the language; others are passed on. */
export function toQueryError(error: unknown): unknown {
  if (error instanceof HttpError) return error;
  if (error instanceof LogsqlSyntaxError) return invalidParameter(`${error.message}.`);
  return error instanceof LogsqlLimitError ? queryTimeout(error.message) : error;
}

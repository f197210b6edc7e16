/** Queries from their string on: those inside them are planned with them or run first, and their rows are taken. */
import { LogsqlLimitError, LogsqlSyntaxError } from '../../logsql/base/errors.ts';
import { withoutCursor, type PlanOptions } from '../../logsql/planner/planner.ts';
import { planWhole } from '../../logsql/planner/prepare.ts';
import type { QueryNode, RunRows } from '../../logsql/base/types.ts';
import type { LogEntry } from '../../pipeline/core/entry.ts';
import { HttpError, invalidParameter, queryTimeout } from '../../pipeline/core/errors.ts';
import { collect, rows } from './rows.ts';
import type { Prepared, Runner } from './runner.ts';

/** Plans a query, and runs those of its subqueries first whose values it needs: their rows it holds from then on. */
export async function prepare(query: QueryNode, options: PlanOptions, runner: Runner): Promise<Prepared> {
  const run = subqueryRunner(options, runner);
  return { plan: await planWhole(query, options, run), run };
}

/** The rows of a query, which it holds from then on; at most `limit`. Throws LogsqlLimitError. */
export async function runQuery(query: QueryNode, options: PlanOptions, runner: Runner, limit = Infinity): Promise<LogEntry[]> {
  return collect(rows(await prepare(query, options, runner), runner, { limit }), options, 'The answer');
}

/** Runs queries inside a query. */
export function subqueryRunner(options: PlanOptions, runner: Runner): RunRows {
  const inner = withoutCursor(options);
  // A row without the field counts here: it makes the filter match entries that lack theirs.
  return async (subquery) =>
    collect(rows(await prepare(subquery, inner, runner), runner, { keepsEmpty: true }), options, 'A query inside another one');
}

/** The HttpError that an analyst is sent for an error of the language; others are passed on. */
export function toQueryError(error: unknown): unknown {
  if (error instanceof HttpError) return error;
  if (error instanceof LogsqlSyntaxError) return invalidParameter(`${error.message}.`);
  return error instanceof LogsqlLimitError ? queryTimeout(error.message) : error;
}

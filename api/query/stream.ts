import type { LogEntry } from '../../pipeline/core/entry.ts';
import { LogsqlLimitError } from '../../logsql/errors.ts';
import { Pipeline, hasValues } from '../../logsql/pipeline.ts';
import type { Plan, PlanOptions } from '../../logsql/planner.ts';
import type { QueryNode } from '../../logsql/types.ts';
import { idsIn, prepareQuery, runPlan, type Runner } from './run.ts';

/**
 * The rows of a query in chunks as they are found, entries newest first; at most `limit`. Nothing is held but what the query's
 * pipes hold; where ClickHouse groups or counts, all rows come at once, and more of them than a query may hold throw.
 */
export async function* streamQuery(
  query: QueryNode,
  options: PlanOptions,
  runner: Runner,
  limit: number,
): AsyncGenerator<readonly LogEntry[]> {
  const plan = await prepareQuery(query, options, runner);
  if (Array.isArray(plan)) yield plan.slice(0, limit);
  else if (plan.fallback === null) yield* rowsOfPlan(plan, runner, limit);
  else {
    const { maxRows } = options.limits;
    const { rows, hasMore } = await runPlan(plan, runner, Math.min(limit, maxRows));
    if (hasMore && limit > maxRows) throw new LogsqlLimitError(`The answer would have more than ${String(maxRows)} rows.`);
    yield rows;
  }
}

async function* rowsOfPlan(plan: Plan, runner: Runner, limit: number): AsyncGenerator<readonly LogEntry[]> {
  let chunk: LogEntry[] = [];
  let left = limit;
  runner.onPipes?.(plan.pipes);
  const pipeline = new Pipeline(plan.pipes, plan.run, (row) => {
    if (left > 0 && hasValues(row)) {
      left -= 1;
      chunk.push(row);
    }
  });
  const taken = (): readonly LogEntry[] => {
    const rows = chunk;
    chunk = [];
    return rows;
  };
  const settings = { ...runner.options.settings, wait_end_of_query: 0 };
  const statement = plan.statement(plan.limitInSql && limit !== Infinity ? limit : null);
  for await (const rows of runner.store.query(statement, { ...runner.options, settings })) {
    const streams = await runner.streams.resolve(idsIn(rows, plan.streamColumns), plan.run, runner.options);
    for (const row of rows) {
      const entry = plan.decode(row, streams);
      if (!(entry instanceof Map)) throw new Error('BUG: a plan of entries did not give an entry.');
      pipeline.push(entry);
      if (left === 0 || pipeline.done) break;
    }
    if (chunk.length > 0) yield taken();
    if (left === 0 || pipeline.done) break;
  }
  pipeline.flush();
  if (chunk.length > 0) yield taken();
}

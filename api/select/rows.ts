import { LogsqlLimitError } from '../../logsql/errors.ts';
import type { QueryNode } from '../../logsql/types.ts';
import type { LogEntry } from '../../pipeline/core/entry.ts';
import type { Deps, Request } from '../query/deps.ts';
import { runQuery } from '../query/run.ts';
import { selectionOptions, type Selection } from './arguments.ts';

/** All rows of a query that groups or counts, over what is selected. Throws LogsqlLimitError. */
export async function selectedRows(query: QueryNode, selection: Selection, request: Request, deps: Deps): Promise<readonly LogEntry[]> {
  const { maxRows } = deps.limits;
  const { rows, hasMore } = await runQuery(query, selectionOptions(selection, request, deps), deps.runner(request), maxRows);
  if (hasMore) throw new LogsqlLimitError(`The answer would have more than ${String(maxRows)} rows; narrow the query or its time range.`);
  return rows;
}

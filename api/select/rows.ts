import type { QueryNode } from '../../logsql/base/types.ts';
import type { LogEntry } from '../../pipeline/core/entry.ts';
import type { Deps, Request } from '../query/deps.ts';
import { runQuery } from '../query/run.ts';
import { selectionOptions, type Selection } from './arguments.ts';

/** All rows of a query that groups or counts, over what is selected. Throws LogsqlLimitError. */
export async function selectedRows(query: QueryNode, selection: Selection, request: Request, deps: Deps): Promise<readonly LogEntry[]> {
  return runQuery(query, selectionOptions(selection, request, deps), deps.runner(request));
}

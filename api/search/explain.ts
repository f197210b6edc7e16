import { innerWindowHints } from '../../logsql/evaluation/inner-window.ts';
import { hintsOf } from '../../logsql/parser/hints.ts';
import { explainPlan, type ExplainedPlan } from '../../logsql/planner/explain.ts';
import { parseQuery } from '../../logsql/parser/parser.ts';
import type { PlanOptions } from '../../logsql/planner/planner.ts';
import { planWhole } from '../../logsql/planner/prepare.ts';
import type { QueryNode } from '../../logsql/base/types.ts';
import type { LogEntry } from '../../pipeline/core/entry.ts';
import { planOptions, type Deps, type Request } from '../query/deps.ts';
import type { SearchParameters } from '../query/parameters.ts';
import { readCursor, readWindow } from '../query/window.ts';

type Explained = { readonly query: string; readonly plan: ExplainedPlan; readonly subqueries: readonly Explained[] };

/** `POST /search?explain=true`: how the query would run, as a JSON string; nothing is run and no entry is read. */
export async function explainSearch(parameters: SearchParameters, request: Request, deps: Deps): Promise<string> {
  const window = readWindow(parameters.start, parameters.end, deps.now(), request.retentionDays);
  const query = parseQuery(parameters.query, { now: window.now });
  const cursor = parameters.before === null ? {} : { before: readCursor(parameters.before) };
  const explained = await explain(query, planOptions(window, request, deps), parameters.limit, cursor);
  const hints = [...(parameters.notes ?? []), ...innerWindowHints(query, window), ...hintsOf(parameters.query)];
  return JSON.stringify({ explain: explained, ...(hints.length === 0 ? {} : { hints }) });
}

/** The plan of a query and those of the queries inside it that are run first, of whose values one stands for all: `<values of query 1>`. */
async function explain(
  query: QueryNode,
  options: PlanOptions,
  limit: number | null,
  cursor: Pick<PlanOptions, 'before'> = {},
): Promise<Explained> {
  const subqueries: Explained[] = [];
  const run = async (subquery: QueryNode): Promise<readonly LogEntry[]> => {
    subqueries.push(await explain(subquery, options, null));
    const field = subquery.pipes.at(-1)?.singleField;
    return field === undefined ? [] : [new Map([[field, `<values of query ${String(subqueries.length)}>`]])];
  };
  const plan = await explainPlan(await planWhole(query, { ...options, ...cursor }, run), limit, options.table);
  return { query: query.toString(), plan, subqueries };
}

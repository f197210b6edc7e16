/** Plans a query with those inside it: as SELECTs in its own statement where they can be, else with the values that they are run for. */
import type { Sql } from '../../pipeline/core/sql.ts';
import type { Plan } from './plan.ts';
import { planQuery, planValues, withoutCursor, type PlanOptions } from './planner.ts';
import { hasSubquery, resolveSubqueries, selectSubqueries } from '../evaluation/subqueries.ts';
import type { Filter, Pipe, QueryNode, RunRows, Subquery } from '../base/types.ts';

/** Queries inside one statement: ClickHouse analyses each of them, and holds its values. */
const MOST_SELECTS = 10;

/** The plan; `run` runs those of the queries inside whose values it needs. */
export async function planWhole(query: QueryNode, options: PlanOptions, run: RunRows): Promise<Plan> {
  const selected = await resolveSubqueries(selectSubqueries(query, selector(withoutCursor(options))), run, true);
  const plan = planQuery(selected, options);
  const needsValues = hasSubquery(selected.filter) || selected.pipes.some(usesSubqueries) ? !isOneStatement(plan) : false;
  return needsValues ? planQuery(await resolveSubqueries(selected, run), options) : plan;
}

/** What gives the SELECT for a query inside another, as long as one statement takes more of them. */
function selector(options: PlanOptions): (subquery: Subquery) => Sql | null {
  let left = MOST_SELECTS;
  const selectOf = ({ query, field }: Subquery): Sql | null => {
    if (left === 0) return null;
    left -= 1;
    const inner = selectSubqueries(query, selectOf);
    const isWhole =
      [inner.filter, ...inner.pipes.flatMap(filtersOf)].every(isSelected) && !inner.pipes.some(({ queries = [] }) => queries.length > 0);
    return isWhole ? planValues(inner, field, options) : null;
  };
  return selectOf;
}

const filtersOf = ({ filters = [] }: Pipe): readonly Filter[] => filters;
const usesSubqueries = (pipe: Pipe): boolean => filtersOf(pipe).some(hasSubquery);
/** True where each query inside the filter has a SELECT. */
const isSelected = ({ subquery, parts = [] }: Filter): boolean =>
  (subquery === undefined || subquery.selected !== undefined) && parts.every(isSelected);

/** True for a plan whose one statement runs once, and that leaves no query inside to memory, whatever the data is. */
function isOneStatement(plan: Plan): boolean {
  if (plan.pipes.some(usesSubqueries)) return false;
  if (plan.kind === 'aggregate') return !leavesQueries(plan.otherwise);
  return plan.kind === 'reshaped' || (plan.kind === 'entries' && plan.keepsAll);
}

function leavesQueries(plan: Plan): boolean {
  return plan.pipes.some(usesSubqueries) || (plan.kind === 'aggregate' && leavesQueries(plan.otherwise));
}

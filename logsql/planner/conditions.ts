/** The conditions of a statement over entries: tenant, window, and each part of the filter that SQL can express; and their cost. */
import { ofTenant, sql, type Sql } from '../../pipeline/core/sql.ts';
import { AndFilter, AnyFilter } from '../filters/logic.ts';
import { TimeFilter } from '../filters/time.ts';
import { momentSql } from '../sql/time.ts';
import type { Filter, SqlContext } from '../base/types.ts';
import type { TimeWindow } from '../base/time-window.ts';
import { StatementBudget } from '../sql/statement-budget.ts';
import { or } from '../sql/text.ts';

export type Conditions = {
  readonly conditions: readonly Sql[];
  /** The parts of the filter that are left to memory. */
  readonly rest: readonly Filter[];
  /** True for rows that meet the conditions and may not match (see `SqlContext.doubt`); null where all of them match. */
  readonly doubt: Sql | null;
};

/** Which entries meet conditions although they may not match: none; those that a cheaper condition leaves in doubt; those with long values of promoted fields. */
type Maybe = 'none' | 'inDoubt' | 'longer';

/** What entries must meet to match a filter within a window. */
export function conditionsOf(filter: Filter, window: TimeWindow, context: SqlContext, maybe: Maybe): Conditions {
  const conditions = [ofTenant(context.tenantId), ...within(window)];
  const budget = new StatementBudget();
  const rest: Filter[] = [];
  const doubts: Sql[] = [];
  for (const part of filter instanceof AndFilter ? filter.parts : [filter]) {
    if (part instanceof TimeFilter || part instanceof AnyFilter) continue;
    const own: Sql[] = [];
    const inSql = budget.takeFilter(part) ? part.sql(withDoubts(context, maybe, own)) : null;
    const condition = inSql === null || own.length === 0 ? inSql : or([inSql, ...own]);
    if (condition === null || !budget.take(condition)) rest.push(part);
    else {
      conditions.push(condition);
      doubts.push(...own);
    }
  }
  return { conditions, rest, doubt: doubts.length === 0 ? null : or(doubts) };
}

function withDoubts(context: SqlContext, maybe: Maybe, own: Sql[]): SqlContext {
  if (maybe === 'inDoubt') return { ...context, doubt: (rows) => void own.push(rows) };
  return maybe === 'longer' ? { ...context, longer: (rows) => void own.push(rows) } : context;
}

/** The times of a window. */
export const within = ({ start, end }: TimeWindow): readonly Sql[] => [sql`_time >= ${momentSql(start)}`, sql`_time <= ${momentSql(end)}`];

import { LOGS } from '../../logsql/sql/logs-table.ts';
import { LogsqlSyntaxError } from '../../logsql/base/errors.ts';
import { parseQuery } from '../../logsql/parser/parser.ts';
import { QueryMemory, type MemoryLimits } from '../../logsql/base/memory.ts';
import type { Plan } from '../../logsql/planner/plan.ts';
import { planQuery, type PlanOptions } from '../../logsql/planner/planner.ts';
import type { Query } from '../../logsql/base/query.ts';
import type { RunContext } from '../../logsql/base/types.ts';
import { Literal, textOf, type FieldValue, type LogEntry } from '../../pipeline/core/entry.ts';
import { renderSql, type Sql } from '../../pipeline/core/sql.ts';
import { MAX_TIME, MIN_TIME, parseTime } from '../../pipeline/core/time.ts';

/** 2026-11-18T11:00:00Z. */
export const NOW = nanoseconds('2026-11-18T11:00:00Z');
const LIMITS = { maxRows: 100_000, maxBytes: 100_000_000 };
/** What a query may hold that has the process for itself. */
export const memoryFor = (limits: Partial<MemoryLimits> = {}, clock?: () => number): QueryMemory =>
  new QueryMemory({ ...LIMITS, ...limits }, undefined, clock);
/** All times, and for each query that is given it memory of its own. */
export const EVERYTHING: RunContext = {
  get memory() {
    return memoryFor();
  },
  start: MIN_TIME,
  end: MAX_TIME,
};

export function nanoseconds(text: string): bigint {
  const at = parseTime(text);
  if (at === null) throw new Error(`No time: ${text}`);
  return at;
}

export const parse = (text: string): Query => parseQuery(text, { now: NOW });

/** The message of the syntax error that a query gives; null when it is accepted. */
export function syntaxError(text: string): LogsqlSyntaxError | null {
  try {
    parse(text);
    return null;
  } catch (error) {
    if (error instanceof LogsqlSyntaxError) return error;
    throw error;
  }
}

export type Plain = Readonly<Record<string, string | number | boolean>>;

/** A row of plain values as an entry: numbers and booleans as literals. */
export const entryOf = (row: Plain): LogEntry =>
  new Map(
    Object.entries(row).map(([name, value]): [string, FieldValue] => [
      name,
      typeof value === 'string' ? value : new Literal(String(value)),
    ]),
  );

/** An entry as plain values, numbers and booleans as such. */
export const plainOf = (row: LogEntry): Plain =>
  Object.fromEntries(
    [...row]
      .filter(([, value]) => value !== '')
      .map(([name, value]) => [name, value instanceof Literal ? (JSON.parse(value.text) as number | boolean) : textOf(value)]),
  );

export const planOf = (text: string, options: Partial<PlanOptions> = {}): Plan =>
  planQuery(parse(text), {
    table: LOGS,
    tenantId: 7,
    start: NOW - 3_600_000_000_000n,
    end: NOW,
    widest: { start: MIN_TIME, end: MAX_TIME },
    memory: memoryFor(),
    ...options,
  });

/** The plan of a query that is to have one of this kind. */
export function planAs<K extends Plan['kind']>(
  kind: K,
  text: string,
  options: Partial<PlanOptions> = {},
): Extract<Plan, { readonly kind: K }> {
  const plan = planOf(text, options);
  if (plan.kind !== kind) throw new Error(`${text} has a plan of ${plan.kind}`);
  return plan as Extract<Plan, { readonly kind: K }>;
}

/** The SELECT of a plan that has one. */
export function statementOf(plan: Plan, limit: number | null): Sql {
  if (plan.kind === 'gather' || plan.kind === 'expand') throw new Error('The plan has several statements.');
  if (plan.kind === 'aggregate') return plan.statement;
  return plan.kind === 'entries' ? plan.statement({ limit }) : plan.statement(limit);
}

/** The text of a plan's SELECT, and its bound values. */
export function sqlOf(
  text: string,
  limit: number | null = 10,
  options: Partial<PlanOptions> = {},
): { readonly text: string; readonly values: readonly unknown[] } {
  const { text: sql, params } = renderSql(statementOf(planOf(text, options), limit));
  return { text: sql.replace(/\s+/g, ' '), values: [...params.values()].map(({ value }) => value) };
}

import { LogsqlSyntaxError } from '../../logsql/errors.ts';
import { parseQuery } from '../../logsql/parser.ts';
import { planQuery, type Plan, type PlanOptions } from '../../logsql/planner.ts';
import type { Query } from '../../logsql/query.ts';
import { Literal, textOf, type FieldValue, type LogEntry } from '../../pipeline/core/entry.ts';
import { renderSql } from '../../pipeline/core/sql.ts';
import { MAX_TIME, MIN_TIME, parseTime } from '../../pipeline/core/time.ts';

/** 2026-11-18T11:00:00Z. */
export const NOW = nanoseconds('2026-11-18T11:00:00Z');
export const LIMITS = { maxRows: 100_000, maxBytes: 100_000_000 };
export const EVERYTHING = { limits: LIMITS, start: MIN_TIME, end: MAX_TIME };

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
    tenantId: 7,
    start: NOW - 3_600_000_000_000n,
    end: NOW,
    widest: { start: MIN_TIME, end: MAX_TIME },
    limits: LIMITS,
    ...options,
  });

/** The text of a plan's SELECT, and its bound values. */
export function sqlOf(
  text: string,
  limit: number | null = 10,
  options: Partial<PlanOptions> = {},
): { readonly text: string; readonly values: readonly unknown[] } {
  const { text: sql, params } = renderSql(planOf(text, options).statement(limit));
  return { text: sql.replace(/\s+/g, ' '), values: [...params.values()].map(({ value }) => value) };
}

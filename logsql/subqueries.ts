/** Queries inside filters (`in(<query>)`): found, run by whoever has the data, and replaced by their values. */
import { textOf, type LogEntry } from '../pipeline/core/entry.ts';
import { Query } from './query.ts';
import type { Filter, Pipe, QueryNode } from './types.ts';

/** Runs a query (its own subqueries resolved) and gives its rows. */
export type RunQuery = (query: QueryNode) => Promise<readonly LogEntry[]>;

/** The query with each subquery replaced by its values, inner ones first. */
export async function resolveSubqueries(query: QueryNode, run: RunQuery): Promise<QueryNode> {
  const known = new Map<string, Promise<readonly string[]>>();
  const filter = await resolveFilter(query.filter, run, known);
  const pipes: Pipe[] = [];
  for (const pipe of query.pipes) pipes.push(await resolvePipe(pipe, run, known));
  return new Query(query.options, filter, pipes);
}

async function resolvePipe(pipe: Pipe, run: RunQuery, known: Map<string, Promise<readonly string[]>>): Promise<Pipe> {
  if (pipe.filters === undefined || pipe.withFilters === undefined || !pipe.filters.some(hasSubquery)) return pipe;
  return pipe.withFilters(await Promise.all(pipe.filters.map((filter) => resolveFilter(filter, run, known))));
}

const hasSubquery = (filter: Filter): boolean => filter.subquery !== undefined || (filter.parts ?? []).some(hasSubquery);

async function resolveFilter(filter: Filter, run: RunQuery, known: Map<string, Promise<readonly string[]>>): Promise<Filter> {
  if (filter.subquery !== undefined) {
    const { query, field, resolve } = filter.subquery;
    const key = JSON.stringify([query.toString(), field]);
    const values = known.get(key) ?? valuesOf(query, field, run);
    known.set(key, values);
    return resolve(await values);
  }
  if (filter.parts === undefined || filter.withParts === undefined || !filter.parts.some(hasSubquery)) return filter;
  return filter.withParts(await Promise.all(filter.parts.map((part) => resolveFilter(part, run, known))));
}

async function valuesOf(query: QueryNode, field: string, run: RunQuery): Promise<readonly string[]> {
  const rows = await run(await resolveSubqueries(query, run));
  return [...new Set(rows.map((row) => textOf(row.get(field))))];
}

/** Queries inside filters (`in(<query>)`): found, run by whoever has the data, and replaced by their values. */
import { textOf, type LogEntry } from '../pipeline/core/entry.ts';
import { Query } from './query.ts';
import type { Filter, Pipe, QueryNode, RunRows } from './types.ts';

/** The query with each subquery replaced by what it gives. */
export async function resolveSubqueries(query: QueryNode, run: RunRows): Promise<QueryNode> {
  const known = new Map<string, readonly string[]>();
  const filter = await resolveFilter(query.filter, run, known);
  const pipes: Pipe[] = [];
  for (const pipe of query.pipes) pipes.push(await resolvePipe(pipe, run, known));
  return new Query(query.options, filter, pipes);
}

async function resolvePipe(pipe: Pipe, run: RunRows, known: Map<string, readonly string[]>): Promise<Pipe> {
  let resolved = pipe;
  if (pipe.queries !== undefined && pipe.queries.length > 0 && pipe.withRows !== undefined) {
    const rows: (readonly LogEntry[])[] = [];
    for (const query of pipe.queries) rows.push(await run(query));
    resolved = pipe.withRows(rows);
  }
  if (resolved.filters === undefined || resolved.withFilters === undefined || !resolved.filters.some(hasSubquery)) return resolved;
  return resolved.withFilters(await resolveAll(resolved.filters, run, known));
}

const hasSubquery = (filter: Filter): boolean => filter.subquery !== undefined || (filter.parts ?? []).some(hasSubquery);

async function resolveFilter(filter: Filter, run: RunRows, known: Map<string, readonly string[]>): Promise<Filter> {
  if (filter.subquery !== undefined) {
    const { query, field, resolve } = filter.subquery;
    const key = JSON.stringify([query.toString(), field]);
    const values = known.get(key) ?? (await valuesOf(query, field, run));
    known.set(key, values);
    return resolve(values);
  }
  if (filter.parts === undefined || filter.withParts === undefined || !filter.parts.some(hasSubquery)) return filter;
  return filter.withParts(await resolveAll(filter.parts, run, known));
}

/** One after another: a query may hold hundreds of others. */
async function resolveAll(filters: readonly Filter[], run: RunRows, known: Map<string, readonly string[]>): Promise<Filter[]> {
  const resolved: Filter[] = [];
  for (const filter of filters) resolved.push(await resolveFilter(filter, run, known));
  return resolved;
}

async function valuesOf(query: QueryNode, field: string, run: RunRows): Promise<readonly string[]> {
  const rows = await run(query);
  return [...new Set(rows.map((row) => textOf(row.get(field))))];
}

/** Queries inside filters (`in(<query>)`): found, run by the caller, and replaced by their values, or by a SELECT of them. */
import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import type { Sql } from '../../pipeline/core/sql.ts';
import { Query } from '../base/query.ts';
import { FieldsPipe } from '../pipes/fields.ts';
import { FilterPipe } from '../pipes/filter.ts';
import type { Filter, Pipe, QueryNode, RunRows, Subquery } from '../base/types.ts';

/** The query with each subquery replaced by what it gives; `keepsSelected`: without those that have a SELECT. */
export async function resolveSubqueries(query: QueryNode, run: RunRows, keepsSelected = false): Promise<QueryNode> {
  const resolving: Resolving = { run, known: new Map(), keepsSelected };
  const filter = await resolveFilter(query.filter, resolving);
  const pipes: Pipe[] = [];
  for (const pipe of query.pipes) pipes.push(await resolvePipe(pipe, resolving));
  return new Query(query.options, filter, pipes);
}

/** The query with a SELECT for each subquery of its filter, and of the filter pipes at its beginning, for which there is one. */
export function selectSubqueries(query: QueryNode, selectOf: (subquery: Subquery) => Sql | null): QueryNode {
  const first = query.pipes.findIndex((pipe) => !(pipe instanceof FilterPipe || pipe instanceof FieldsPipe));
  const head = first < 0 ? query.pipes.length : first;
  const pipes = query.pipes.map((pipe, index) =>
    index < head && pipe instanceof FilterPipe ? new FilterPipe(selectIn(pipe.filter, selectOf)) : pipe,
  );
  return new Query(query.options, selectIn(query.filter, selectOf), pipes);
}

function selectIn(filter: Filter, selectOf: (subquery: Subquery) => Sql | null): Filter {
  const { subquery, parts } = filter;
  if (subquery?.select !== undefined) {
    const values = selectOf(subquery);
    return values === null ? filter : subquery.select(values);
  }
  if (parts === undefined || filter.withParts === undefined || !parts.some(hasSubquery)) return filter;
  return filter.withParts(parts.map((part) => selectIn(part, selectOf)));
}

type Resolving = { readonly run: RunRows; readonly known: Map<string, readonly string[]>; readonly keepsSelected: boolean };

async function resolvePipe(pipe: Pipe, resolving: Resolving): Promise<Pipe> {
  let resolved = pipe;
  if (pipe.queries !== undefined && pipe.queries.length > 0 && pipe.withRows !== undefined) {
    const rows: (readonly LogEntry[])[] = [];
    for (const query of pipe.queries) rows.push(await resolving.run(query));
    resolved = pipe.withRows(rows);
  }
  if (resolved.filters === undefined || resolved.withFilters === undefined || !resolved.filters.some(hasSubquery)) return resolved;
  return resolved.withFilters(await resolveAll(resolved.filters, resolving));
}

/** True where a query is inside the filter that memory would need the values of. */
export const hasSubquery = (filter: Filter): boolean => filter.subquery !== undefined || (filter.parts ?? []).some(hasSubquery);

async function resolveFilter(filter: Filter, resolving: Resolving): Promise<Filter> {
  if (filter.subquery !== undefined) {
    const { query, field, resolve, selected } = filter.subquery;
    if (resolving.keepsSelected && selected !== undefined) return filter;
    const { run, known } = resolving;
    const key = JSON.stringify([query.toString(), field]);
    const values = known.get(key) ?? (await valuesOf(query, field, run));
    known.set(key, values);
    return resolve(values);
  }
  if (filter.parts === undefined || filter.withParts === undefined || !filter.parts.some(hasSubquery)) return filter;
  return filter.withParts(await resolveAll(filter.parts, resolving));
}

/** One after another: a query may hold hundreds of others. */
async function resolveAll(filters: readonly Filter[], resolving: Resolving): Promise<Filter[]> {
  const resolved: Filter[] = [];
  for (const filter of filters) resolved.push(await resolveFilter(filter, resolving));
  return resolved;
}

async function valuesOf(query: QueryNode, field: string, run: RunRows): Promise<readonly string[]> {
  const rows = await run(query);
  return [...new Set(rows.map((row) => textOf(row.get(field))))];
}

/** Queries inside the filters of a live query: they are run once, when it begins, and their values come with it. */
import { Query } from '../../../logsql/base/query.ts';
import type { Filter, Pipe, QueryNode, Subquery } from '../../../logsql/base/types.ts';

/** The queries inside the filters of a query and its pipes, in their order. */
export function subqueriesOf({ filter, pipes }: QueryNode): Subquery[] {
  const found: Subquery[] = [];
  resolveAll({ filter, pipes }, (subquery) => {
    found.push(subquery);
    return null;
  });
  return found;
}

/** The query with these values in place of the queries inside it, in the same order. */
export function withValues(query: QueryNode, values: readonly (readonly string[])[]): QueryNode {
  let next = 0;
  return new Query(query.options, ...resolveAll(query, (subquery) => subquery.resolve(values[next++] ?? [])));
}

type Resolve = (subquery: Subquery) => Filter | null;

const resolveAll = ({ filter, pipes }: Pick<QueryNode, 'filter' | 'pipes'>, resolve: Resolve): [Filter, Pipe[]] => [
  inFilter(filter, resolve),
  pipes.map((pipe) =>
    pipe.filters === undefined || pipe.withFilters === undefined
      ? pipe
      : pipe.withFilters(pipe.filters.map((filter) => inFilter(filter, resolve))),
  ),
];

function inFilter(filter: Filter, resolve: Resolve): Filter {
  if (filter.subquery !== undefined) return resolve(filter.subquery) ?? filter;
  if (filter.parts === undefined || filter.withParts === undefined) return filter;
  const parts = filter.parts.map((part) => inFilter(part, resolve));
  return parts.every((part, index) => part === filter.parts?.[index]) ? filter : filter.withParts(parts);
}

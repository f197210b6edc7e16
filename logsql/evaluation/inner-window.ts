/** Which window the queries inside a query take. */
import { formatTime } from '../../pipeline/core/time.ts';
import { TimeFilter } from '../filters/time.ts';
import type { TimeWindow } from '../base/time-window.ts';
import type { Filter, QueryNode } from '../base/types.ts';
import { splitHead } from './head.ts';

/** A query inside another, and what it is inside of: `in`, `join`. */
type Inner = { readonly name: string; readonly query: QueryNode };

/** Sentences about the queries inside that have no `_time` of their own, one for each place of them that has a name. */
export function innerWindowHints(query: QueryNode, { start, end }: TimeWindow): readonly string[] {
  const names = innersOf(query).flatMap(({ name, query: inner }) =>
    inner.options.ignoreGlobalTimeFilter === true || hasTime(splitHead(inner).filter) ? [] : [name],
  );
  const window = `${formatTime(start)} to ${formatTime(end)}`;
  return [...new Set(names)].map(
    (name) => `The query inside ${name}(…) has no _time filter; it searched the window of the outer query, ${window}.`,
  );
}

const hasTime = (filter: Filter): boolean => filter instanceof TimeFilter || (filter.parts ?? []).some(hasTime);

/** All of them, at any depth. */
function innersOf(query: QueryNode): readonly Inner[] {
  const own = [
    ...innersOfFilter(query.filter),
    ...query.pipes.flatMap((pipe) => [
      ...(pipe.queries ?? []).map((inner) => ({ name: /^\w+/.exec(pipe.toString())?.[0] ?? '', query: inner })),
      ...(pipe.filters ?? []).flatMap(innersOfFilter),
    ]),
  ];
  return own.flatMap((inner) => [inner, ...innersOf(inner.query)]);
}

function innersOfFilter({ subquery, parts = [] }: Filter): readonly Inner[] {
  return [...(subquery === undefined ? [] : [{ name: subquery.name, query: subquery.query }]), ...parts.flatMap(innersOfFilter)];
}

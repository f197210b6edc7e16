import { FieldSet } from '../base/fields.ts';
import { allOf } from '../filters/logic.ts';
import { FieldsPipe } from '../pipes/fields.ts';
import { FilterPipe } from '../pipes/filter.ts';
import type { Filter, Pipe, QueryNode } from '../base/types.ts';

/** A query whose filter pipes at the beginning are part of its filter; `fields` may stand between when it keeps what they look at. */
export function splitHead(query: QueryNode, extra?: Filter): { readonly filter: Filter; readonly pipes: readonly Pipe[] } {
  const filters: Filter[] = extra === undefined ? [query.filter] : [extra, query.filter];
  const pipes: Pipe[] = [];
  let kept = FieldSet.all;
  for (const [index, pipe] of query.pipes.entries()) {
    if (
      pipe instanceof FilterPipe &&
      pipe.filter.fields.every((field) => kept.has(field) && (field !== '_stream_id' || !kept.isOpen || pipes.length === 0))
    )
      filters.push(pipe.filter);
    else if (pipe instanceof FieldsPipe) {
      kept = kept.within(pipe.patterns);
      pipes.push(pipe);
    } else return { filter: allOf(filters), pipes: [...pipes, ...query.pipes.slice(index)] };
  }
  return { filter: allOf(filters), pipes };
}

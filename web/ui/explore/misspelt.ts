/** Fields that a query names and no entry has: what they may have been meant to be. */
import { nearest } from '../../../pipeline/core/nearest.ts';
import { chipsOf } from '../editor/tokens.ts';

/** The query with the names that are known in place of those that are not, one at a time. */
export function respelt(
  query: string,
  known: readonly string[],
): readonly { readonly from: string; readonly to: string; readonly next: string }[] {
  return chipsOf(query).flatMap(({ field, start, end }) => {
    if (known.includes(field)) return [];
    const to = nearest(field, known);
    const at = query.indexOf(field, start);
    return to === null || at < 0 || at >= end ? [] : [{ from: field, to, next: query.slice(0, at) + to + query.slice(at + field.length) }];
  });
}

/** Fields that a query names and no entry has: what they may have been meant to be. */
import { chipsOf } from '../editor/tokens.ts';

/** Names that are longer are no slips of a finger; the distance costs their product. */
const MOST_CHARACTERS = 100;

/** In how many places two names differ: letters left out, added, or changed, and neighbours in the wrong order. */
function distance(one: string, two: string): number {
  let [older, before]: [number[], number[]] = [[], Array.from({ length: two.length + 1 }, (_none, at) => at)];
  for (let row = 1; row <= one.length; row += 1) {
    const now = [row];
    for (let at = 1; at <= two.length; at += 1) {
      const isSame = one[row - 1] === two[at - 1];
      let best = Math.min((before[at] ?? 0) + 1, (now[at - 1] ?? 0) + 1, (before[at - 1] ?? 0) + (isSame ? 0 : 1));
      if (row > 1 && at > 1 && one[row - 1] === two[at - 2] && one[row - 2] === two[at - 1])
        best = Math.min(best, (older[at - 2] ?? 0) + 1);
      now.push(best);
    }
    [older, before] = [before, now];
  }
  return before[two.length] ?? 0;
}

/** The name that is nearest, of the most frequent first; null where none is near. */
export function nearest(name: string, known: readonly string[]): string | null {
  if (name.length > MOST_CHARACTERS) return null;
  const most = name.length <= 4 ? 1 : 2;
  let [found, least]: [string | null, number] = [null, most + 1];
  for (const one of known) {
    if (Math.abs(one.length - name.length) > most) continue;
    const far = distance(name.toLowerCase(), one.toLowerCase());
    if (far < least) [found, least] = [one, far];
  }
  return found;
}

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

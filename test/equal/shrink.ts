/** Makes a counterexample small: fewer tokens in its query, fewer entries. */
import { tokenize } from '../../logsql/base/lexer.ts';

/** Removes runs of tokens, long ones first, as long as the query still fails. */
export async function shrinkQuery(query: string, fails: (text: string) => Promise<boolean>): Promise<string> {
  return shrinkList(
    tokenize(query).filter(({ kind }) => kind !== 'end'),
    (tokens) => fails(textOf(tokens)),
  ).then(textOf);
}

const textOf = (tokens: readonly { readonly raw: string; readonly spaced: boolean }[]): string =>
  tokens.map(({ raw, spaced }) => (spaced ? ` ${raw}` : raw)).join('');

/** A shorter list that still fails: parts of it are left out, halves first, then smaller ones (ddmin). */
export async function shrinkList<Item>(
  items: readonly Item[],
  fails: (list: readonly Item[]) => Promise<boolean>,
): Promise<readonly Item[]> {
  let kept = items;
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < kept.length;) {
      const fewer = [...kept.slice(0, at), ...kept.slice(at + size)];
      if (fewer.length > 0 && (await fails(fewer))) kept = fewer;
      else at += size;
    }
  }
  return kept;
}

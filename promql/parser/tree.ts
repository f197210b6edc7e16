/** The tree that lezer makes of an expression, and where it does not fit. */
import { parser } from '@prometheus-io/lezer-promql';
import type { SyntaxNode } from '@lezer/common';
import { PromqlSyntaxError } from '../base/errors.ts';
import { forLezer, Lexer, tokenText, type Token } from './lexer.ts';

export type { SyntaxNode };

/** The expression's node, and its tokens. Throws with the first token that does not fit. */
export function syntaxTree(query: string): { readonly root: SyntaxNode; readonly tokens: readonly Token[] } {
  const { tokens } = new Lexer(query);
  const [first] = tokens;
  if (first === undefined || first.kind === 'end')
    throw new PromqlSyntaxError(query, { from: query.length, to: query.length }, 'no expression found in input');
  const tree = parser.parse(forLezer(query, tokens));
  let at = Infinity;
  tree.iterate({
    enter: (node) => {
      if (node.type.isError) at = Math.min(at, node.from);
      return at === Infinity;
    },
  });
  const [root] = childrenOf(tree.topNode);
  if (at === Infinity && root !== undefined) return { root, tokens };
  const token = tokens.find(({ to, kind }) => to > at || kind === 'end') ?? first;
  throw new PromqlSyntaxError(query, token, `unexpected ${tokenText(token)}`);
}

/** The children of a node, without comments. */
export function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) if (child.name !== 'LineComment') children.push(child);
  return children;
}

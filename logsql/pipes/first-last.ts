import { isNumberPrefix } from '../values/numbers.ts';
import type { Parser, Pipe, PipeSpec } from '../base/types.ts';
import { count, namesInParens, rankName } from '../base/arguments.ts';
import { SortPipe, parseSortKeys } from './sort.ts';

/** `first N by (f) [partition by (g)] [rank as r]` is a sort with a limit; `last` the same from the other end. N is 1 when left out. */
function parseEnd(parser: Parser, isDescending: boolean): Pipe {
  const { lexer } = parser;
  lexer.next();
  const limit = isNumberPrefix(lexer.token) ? count(lexer, 'a number of rows') : 1;
  const keys = lexer.accept('by') || lexer.is('(') ? parseSortKeys(parser) : [];
  let [rank, partition]: [string | null, readonly string[]] = [null, []];
  for (;;) {
    if (lexer.is('rank')) rank = rankName(lexer);
    else if (lexer.is('partition') && partition.length === 0) {
      lexer.next();
      lexer.accept('by');
      partition = namesInParens(lexer);
    } else return new SortPipe({ keys, isDescending, offset: 0, limit, rank, partition });
  }
}

const INPUT = [{ n: 2 }, { n: 10 }, { n: 1 }];

export const first: PipeSpec = {
  names: ['first'],
  examples: [{ query: '* | first 2 by (n)', input: INPUT, output: [{ n: 1 }, { n: 2 }] }],
  parse: (parser) => parseEnd(parser, false),
};

export const last: PipeSpec = {
  names: ['last'],
  examples: [{ query: '* | last by (n)', input: INPUT, output: [{ n: 10 }] }],
  parse: (parser) => parseEnd(parser, true),
};

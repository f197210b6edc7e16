import type { Lexer } from '../base/lexer.ts';
import { readLength } from '../values/times.ts';

const TOKEN = /^[\p{L}\p{N}_.:+-]+$/u;

/** A time or a duration as a query has it: quoted where it is more than one token. */
export const printToken = (text: string): string => (TOKEN.test(text) ? text : JSON.stringify(text));

/** A duration in nanoseconds, never negative unless `signed`. */
export function duration(lexer: Lexer, signed = false): { readonly length: bigint; readonly text: string } {
  const mark = lexer.save();
  const text = lexer.compound('a duration');
  const length = readLength(text);
  if (length === null) {
    lexer.restore(mark);
    return lexer.fail('expected a duration such as 1h30m, of at most 200y');
  }
  return { length: signed || length >= 0n ? length : -length, text: printToken(text) };
}

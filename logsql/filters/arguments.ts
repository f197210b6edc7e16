/** How functions read what stands in their parentheses. */
import type { Parser } from '../base/types.ts';

/** `name(a, "b c", d)`: the strings; `*` is itself. A comma may end the list. */
export function listArguments(parser: Parser): readonly string[] {
  const { lexer } = parser;
  const name = lexer.next();
  lexer.expect('(');
  const list: string[] = [];
  while (!lexer.is(')')) {
    if (lexer.isEnd || lexer.is(',', '(')) lexer.fail(`expected an argument of ${name}() or ")"`);
    const argument = lexer.argument();
    list.push(argument === '' && lexer.accept('*') ? '*' : argument);
    if (lexer.is(')')) break;
    if (!lexer.accept(',')) lexer.fail(`expected "," or ")" in ${name}()`);
  }
  lexer.next();
  return list;
}

/** Exactly `count` arguments. */
export function exactArguments(parser: Parser, count: number): readonly string[] {
  const { lexer } = parser;
  const { token } = lexer;
  const at = lexer.save();
  const list = listArguments(parser);
  if (list.length === count) return list;
  lexer.restore(at);
  return lexer.fail(`expected ${token}() with ${String(count)} argument${count === 1 ? '' : 's'}, not ${String(list.length)}`);
}

/** `name(phrase)` or `name(phrase*)`. */
export function maybePrefixArgument(parser: Parser): { readonly argument: string; readonly isPrefix: boolean } {
  const { lexer } = parser;
  const name = lexer.next();
  lexer.expect('(');
  if (lexer.isEnd || lexer.is(')', '(', ',')) lexer.fail(`expected an argument of ${name}()`);
  const argument = lexer.argument();
  const isPrefix = lexer.is('*') && !lexer.spaced;
  if (isPrefix) lexer.next();
  lexer.expect(')');
  return { argument, isPrefix };
}

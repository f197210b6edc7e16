/** How pipes and stats functions read names, lists of names and counts. */
import { parseBytes, parseDuration } from '../values/numbers.ts';
import type { Lexer } from './lexer.ts';
import { quote } from './reserved.ts';

/** A field's name; the empty name is `_msg`. */
export function fieldName(lexer: Lexer): string {
  const name = lexer.compound('the name of a field');
  return name === '' ? '_msg' : name;
}

/** `(a, b, c)`; the last comma may be followed by nothing. */
export function namesInParens(lexer: Lexer): readonly string[] {
  lexer.expect('(');
  const names: string[] = [];
  while (!lexer.accept(')')) {
    names.push(fieldName(lexer));
    if (!lexer.is(')') && !lexer.accept(',')) lexer.fail('expected "," or ")"');
  }
  return names;
}

/** `a, b.*, c` without parentheses, up to the first token that is not a comma. */
export function names(lexer: Lexer): readonly string[] {
  const list = [fieldName(lexer)];
  while (lexer.accept(',')) list.push(fieldName(lexer));
  return list;
}

/** `by (a, b)`, `by a, b`, `(a, b)` or `a, b`; empty where the pipe ends or one of the stops follows, unless `by` was there. */
export function byNames(lexer: Lexer, stops: readonly string[]): readonly string[] {
  const isNamed = lexer.accept('by');
  if (lexer.is('(')) return namesInParens(lexer);
  if (lexer.is('|', ')', '', ...stops)) return isNamed ? lexer.fail('expected fields after "by"') : [];
  return names(lexer);
}

/** `from f`, or `_msg` where none is named. */
export const parseFrom = (lexer: Lexer): string => (lexer.accept('from') ? fieldName(lexer) : '_msg');
export const printFrom = (field = '_msg'): string => (field === '_msg' ? '' : ` from ${quote(field)}`);

/** True where the pipe ends. */
export const atEnd = (lexer: Lexer): boolean => lexer.is('|', ')', '');

const INTEGER = /^(?:[0-9][0-9_]*|0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+)$/;

/** A count such as `10`, `1_000` or `1K`; null when the string is not one. Larger ones than a double can count are infinite. */
export function parseCount(text: string): number | null {
  if (/^\+?inf$/i.test(text)) return Infinity;
  if (INTEGER.test(text)) return Number(text.replaceAll('_', ''));
  const value = parseBytes(text) ?? parseDuration(text);
  return value === null || value < 0 ? null : value;
}

/** Reads a count, or fails. */
export function count(lexer: Lexer, what: string): number {
  const at = lexer.save();
  const value = parseCount(lexer.compound(what));
  if (value !== null) return value;
  lexer.restore(at);
  return lexer.fail(`expected ${what}`);
}

/** `rank`, `rank as r` or `rank r`: the field's name, or null where there is no rank. */
export function rankName(lexer: Lexer): string | null {
  if (!lexer.accept('rank')) return null;
  const isNamed = lexer.accept('as');
  if (atEnd(lexer) || lexer.is('(')) return isNamed ? lexer.fail('expected the name of the rank') : 'rank';
  return !isNamed && lexer.is('limit', 'offset', 'partition', 'hits') ? 'rank' : fieldName(lexer);
}

/** The name, with as many `s` behind it as it takes not to be taken (`hitss`). */
export function freeName(name: string, taken: readonly string[]): string {
  return taken.includes(name) ? freeName(`${name}s`, taken) : name;
}

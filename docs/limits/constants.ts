import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Constant } from './limit.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** The value of a constant, read from its source: nothing of the program is loaded. Throws an Error that names the file and the constant. */
export function valueOf({ file, name, index }: Constant): number {
  const source = withoutWords(readFileSync(path.join(ROOT, file), 'utf8'));
  try {
    const expression = expressionOf(source, name);
    return evaluated(index === undefined ? expression : partOf(expression, String(index)), source);
  } catch (error) {
    const part = index === undefined ? '' : ` (${String(index)})`;
    throw new Error(`${file}: ${name}${part}: ${(error as Error).message}.`, { cause: error });
  }
}

/** The names of all constants of a source, those of patterns such as `[A, B]` too. */
export const namesOf = (source: string): string[] =>
  [...withoutWords(source).matchAll(DECLARED)].flatMap(([, list, members, name]) => name ?? namesIn(list ?? members ?? ''));

const DECLARED = /\bconst\s+(?:\[([^\]]*)\]|\{([^}]*)\}|([A-Za-z_$][\w$]*))(?=[\s:=])/g;
/** The sign of a declaration, and of nothing that compares or is a function. */
const EQUALS = /(?<![=<>!])=(?![=>])/g;
/** Strings and comments. */
const WORDS = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\[^])*`|\/\/[^\n]*|\/\*[^]*?\*\//g;

/** A source without comments, with all strings empty: what is left has brackets in pairs. */
const withoutWords = (source: string): string => source.replaceAll(WORDS, (word) => (word.startsWith('/') ? '' : "''"));

const namesIn = (list: string): string[] => list.split(',').map((one) => one.trim().split(':').at(-1)?.trim() ?? '');

/** What stands behind a constant's name in its only declaration; where there is none, what a parameter of this name is by default. */
function expressionOf(source: string, name: string): string {
  const found: string[] = [];
  for (const match of source.matchAll(DECLARED)) {
    const [whole, list = '', , own] = match;
    const place = namesIn(list).indexOf(name);
    if (own !== name && place < 0) continue;
    EQUALS.lastIndex = match.index + whole.length;
    const sign = EQUALS.exec(source);
    if (sign === null) continue;
    const [expression = ''] = split(source.slice(sign.index + 1), ';', 1);
    found.push(own === name ? expression : partOf(expression, String(place)));
  }
  const [first, second] = found.length > 0 ? found : defaultsOf(source, name);
  if (first === undefined) throw new Error('there is no such constant');
  if (second !== undefined) throw new Error('there are several constants of this name');
  return first;
}

/** `keep = 10_000`, or `other: keep = 10_000`, among parameters. */
const defaultsOf = (source: string, name: string): string[] =>
  [...source.matchAll(new RegExp(`(?<=[({,]\\s*(?:\\w+: )?)${name} = ([\\d_*+/ ]+?)(?=\\s*[,)}])`, 'g'))].map(([, value = '']) => value);

/** The parts of a text between signs that stand in no brackets; at most `most` of them. */
function split(text: string, sign: string, most = Infinity): string[] {
  const parts: string[] = [];
  let [depth, start] = [0, 0];
  for (let at = 0; at <= text.length && parts.length < most; at++) {
    const char = text[at] ?? sign;
    if ('([{'.includes(char)) depth += 1;
    else if (')]}'.includes(char)) depth -= 1;
    else if (char === sign && depth === 0) {
      parts.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  return parts;
}

/** A part of a list by its place, or of an object by its name. */
function partOf(expression: string, index: string): string {
  const [first = '', ...more] = index.split('.');
  const inner = /^[[{]([^]*)[\]}](?:\s+as const)?$/.exec(expression)?.[1];
  if (inner === undefined) throw new Error('it has no parts');
  const parts = split(inner, ',');
  const member = parts.find((part) => part.startsWith(`${first}:`))?.slice(first.length + 1);
  const found = (expression.startsWith('[') ? parts[Number(first)] : member)?.trim();
  if (found === undefined) throw new Error(`it has no part ${first}`);
  return more.length === 0 ? found : partOf(found, more.join('.'));
}

const TOKENS = /\d[\d_]*(?:\.\d+)?(?:e\d+)?n?|\*\*|[*+/()]|[A-Z][A-Z\d_]*|\S/g;

/** The value of an expression of numbers, `+`, `*`, `/`, `**`, parentheses, and constants of the same source of which that holds. */
function evaluated(expression: string, source: string): number {
  const tokens = expression.replace(/\s+as const$/, '').match(TOKENS) ?? [];
  const wrong = (): Error => new Error(`${JSON.stringify(expression.slice(0, 60))} is not an expression of numbers`);
  let at = 0;
  const takes = (token: string): boolean => tokens[at] === token && (at += 1) > 0;
  const atom = (): number => {
    const token = tokens[at++] ?? '';
    if (/^\d/.test(token)) return Number(token.replaceAll(/[_n]/g, ''));
    if (/^[A-Z]/.test(token)) return evaluated(expressionOf(source, token), source);
    const inner = token === '(' ? sum() : NaN;
    if (token !== '(' || !takes(')')) throw wrong();
    return inner;
  };
  const power = (): number => {
    const base = atom();
    return takes('**') ? base ** power() : base;
  };
  const product = (): number => {
    let value = power();
    for (;;)
      if (takes('*')) value *= power();
      else if (takes('/')) value /= power();
      else return value;
  };
  const sum = (): number => {
    let value = product();
    while (takes('+')) value += product();
    return value;
  };
  const value = sum();
  if (at < tokens.length) throw wrong();
  return value;
}

/**
 * Queries that look like another language. What can mean nothing else is refused with what to write (`refuseForeign`, `pipeHint`); what
 * LogsQL takes in another sense than its author probably meant is run, and reported (`hintsOf`).
 */
import { tokenize, type Lexer, type Token } from '../base/lexer.ts';
import { isPipeWord } from '../base/reserved.ts';

/** Pipes of other languages, and what does the same here. */
const FOREIGN_PIPES: Readonly<Record<string, string>> = {
  dedup: 'uniq by (f)',
  distinct: 'uniq by (f)',
  extend: 'math a / b as c, or format "<a>" as c',
  grep: 'filter "x"',
  group: 'stats by (f) count()',
  json: 'unpack_json',
  label_format: 'format "<a>" as b, or rename a as b',
  line_format: 'format "<a> <b>"',
  logfmt: 'unpack_logfmt',
  parse: 'extract "a=<a> "',
  pattern: 'extract "a=<a> "',
  project: 'fields a, b',
  regexp: 'extract_regexp "(?P<a>.+)"',
  rex: 'extract_regexp "(?P<a>.+)"',
  search: 'filter "x"',
  select: 'fields a, b',
  summarize: 'stats by (f) count()',
  table: 'fields a, b',
  tail: 'last 10 by (_time)',
  take: 'limit 10',
  timechart: 'stats by (_time:5m) count()',
  unwrap: 'stats sum(f), or stats quantile(0.9, f)',
};
const LOGQL_FUNCTIONS = new Set([
  'avg_over_time',
  'bytes_over_time',
  'bytes_rate',
  'count_over_time',
  'max_over_time',
  'min_over_time',
  'quantile_over_time',
  'sum_over_time',
]);
/** The most sentences of an answer. */
const MAX_HINTS = 5;
const OPERATORS = new Set(['=', '!=', '=~', '!~', '~', '>', '<']);

const isWord = (token: Token | undefined): token is Token => token?.kind === 'word';
const isMark = (token: Token | undefined, mark: string): boolean => token?.kind === 'punctuation' && token.text === mark;
const isNamed = (token: Token | undefined, name: string): boolean => isWord(token) && token.text.toLowerCase() === name;
const isOperator = (token: Token | undefined): boolean => token?.kind === 'punctuation' && OPERATORS.has(token.text);
const MAX_SHOWN = 60;
const clip = (text: string): string => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);
const shown = (text: string): string => JSON.stringify(clip(text));

/** Refuses what can only be another language, with what to write instead. Throws LogsqlSyntaxError. */
export function refuseForeign(lexer: Lexer): void {
  const start = lexer.save();
  if (lexer.is('select')) {
    while (!lexer.isEnd && !lexer.is('from', '|')) lexer.next();
    const isSql = lexer.is('from');
    lexer.restore(start);
    if (isSql)
      lexer.fail(
        'expected LogsQL, not SQL: write a filter and then pipes, such as level:=error | stats by (service) count() as n; put "select" in quotes to search for the word',
      );
  }
  const name = lexer.keyword ?? '';
  if (lexer.current.kind !== 'word' || !LOGQL_FUNCTIONS.has(name)) return;
  lexer.next();
  const isCall = lexer.is('(');
  lexer.restore(start);
  if (isCall) lexer.fail(`expected LogsQL, which has no ${name}(): write {app="x"} | stats by (_time:5m) count() as n`);
}

/** What to write for a pipe of another language, or of none: reported where what follows its name cannot be read. Null for a pipe. */
export function pipeHint(token: Token): string | null {
  if (token.kind !== 'word' || isPipeWord(token.text)) return null;
  const name = token.text.toLowerCase();
  const instead = Object.hasOwn(FOREIGN_PIPES, name) ? FOREIGN_PIPES[name] : undefined;
  return `${shown(token.text)} is not a pipe${instead === undefined ? '' : `; write ${instead}`}`;
}

/** What an accepted query may have been meant to do, in one sentence each; none where nothing looks like another language. */
export function hintsOf(text: string): readonly string[] {
  const tokens = tokenize(text);
  const hints: string[] = [];
  // for each bracket that is open: whether it holds something else than a filter
  const brackets: boolean[] = [];
  let isFilter = true;
  for (const [at, token] of tokens.entries()) {
    if (isMark(token, '(') || isMark(token, '{'))
      brackets.push(isMark(token, '{') || (isWord(tokens[at - 1]) && !token.spaced && !isNamed(tokens[at - 1], 'not')));
    else if (isMark(token, ')') || isMark(token, '}')) brackets.pop();
    else if (isMark(token, '|') && brackets.length === 0) {
      const name = tokens[at + 1];
      isFilter = name === undefined || !isPipeWord(name.text) || isNamed(name, 'filter') || isNamed(name, 'where');
      const hint = name === undefined || isMark(tokens[at + 2], ':') || isOperator(tokens[at + 2]) ? null : pipeHint(name);
      if (hint !== null) hints.push(`${hint}; it is searched for in _msg.`);
    } else if (isFilter && !brackets.includes(true))
      hints.push(...filterHints(tokens.slice(Math.max(0, at - 1), at + 4), at === 0 ? 0 : 1));
  }
  return [...new Set(hints)].slice(0, MAX_HINTS);
}

/** A comparison without a colon, a wildcard in front of a word, a line filter of LogQL: what begins at this place among these tokens. */
function filterHints(tokens: readonly Token[], at: number): readonly string[] {
  const [before, token, next, after] = [tokens[at - 1], tokens[at], tokens[at + 1], tokens[at + 2]];
  if (token === undefined || next === undefined) return [];
  if (isMark(token, '!=') && isMark(before, '}'))
    return [`${token.text} ${clip(next.raw)} compares all of _msg; for entries without this text write !${shown(next.text)}.`];
  if (isMark(token, '*') && isWord(next) && !next.spaced)
    return [`*${clip(next.text)} means any value and then the word ${clip(next.text)}; for a part of a word write ~${shown(next.text)}.`];
  if (!isWord(token) || isMark(before, ':') || isOperator(before) || /^(?:and|or|not)$/i.test(token.text)) return [];
  const name = clip(token.text);
  if (isNamed(next, 'in') && isMark(after, '('))
    return [`${name} in (…) searches for the word ${name} too; for the field write ${name}:in(…).`];
  if (!isOperator(next) || after === undefined) return [];
  const isDouble = isMark(after, '=');
  const sign = isDouble ? `${next.text}=` : next.text;
  const value = clip((isDouble ? tokens[at + 3] : after)?.raw ?? '');
  const written = { '=': ':=', '==': ':=', '=~': ':~' }[sign] ?? `:${sign}`;
  const word = written === ':=' ? ` (the whole value) or ${name}:${value} (a word of it)` : '';
  return [`${name}${sign}${value} looks for this in _msg; for the field ${name} write ${name}${written}${value}${word}.`];
}

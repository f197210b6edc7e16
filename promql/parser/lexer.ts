/**
 * The tokens of an expression, for what the grammar of lezer leaves out: errors with a text, the bound of nesting, and a few forms that are
 * written otherwise for it (of the same length, so that positions hold).
 */
import { MAX_CHARACTERS, MAX_NESTING, MAX_OPERATORS } from '../base/limits.ts';
import { PromqlSyntaxError, type Range } from '../base/errors.ts';
import { AGGREGATORS } from '../aggregations/index.ts';
import { functionNamed } from '../functions/index.ts';
import { quote } from '../values/labels.ts';

export type TokenKind = 'identifier' | 'number' | 'string' | 'operator' | 'mark' | 'end';
export type Token = Range & { readonly kind: TokenKind; readonly text: string };

const NAME = /[A-Za-z_:][A-Za-z0-9_:]*/y;
const NUMBER = /(?:0[xX][0-9a-fA-F]*|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d[\d_]*)?)[A-Za-z0-9_]*/y;
const GOOD_NUMBER =
  /^(?:0[xX][0-9a-fA-F]+|(?:\d+(?:_\d+)*(?:\.(?:\d+(?:_\d+)*)?)?|\.\d+(?:_\d+)*)(?:[eE][+-]?\d+(?:_\d+)*)?|(?:\d+y)?(?:\d+w)?(?:\d+d)?(?:\d+h)?(?:\d+m)?(?:\d+s)?(?:\d+ms)?)$/;
const OPERATORS = ['==', '!=', '=~', '!~', '<=', '>=', '</', '>/', '<', '>', '=', '+', '-', '*', '/', '%', '^', '@'] as const;
const OPEN: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };
const CLOSED: Readonly<Record<string, string>> = { ')': 'parenthesis', ']': 'bracket', '}': 'brace' };
/** Operators and modifiers that are words. */
const WORDS = /^(?:and|or|unless|atan2|offset)$/i;
const KEYWORD_NUMBERS = /^(?:inf|nan)$/i;

/** Splits an expression into tokens. Throws on what is none, and on parentheses that do not fit. */
export class Lexer {
  readonly #query: string;
  readonly #open: { readonly mark: string; readonly at: number }[] = [];
  readonly tokens: Token[] = [];
  #at = 0;
  #operators = 0;

  constructor(query: string) {
    this.#query = query;
    if (query.length > MAX_CHARACTERS)
      throw this.#fail({ from: 0, to: query.length }, `an expression has at most ${String(MAX_CHARACTERS)} characters`);
    while (this.#step());
    const open = this.#open.at(-1);
    const end = { from: query.length, to: query.length };
    if (open !== undefined) throw this.#fail(end, `unclosed left ${CLOSED[OPEN[open.mark] ?? ''] ?? ''}`);
    this.tokens.push({ kind: 'end', text: '', ...end });
  }

  #fail(range: Range, reason: string): PromqlSyntaxError {
    return new PromqlSyntaxError(this.#query, range, reason);
  }

  #push(kind: TokenKind, length: number): true {
    const from = this.#at;
    this.#at += length;
    const token = { kind, text: this.#query.slice(from, this.#at), from, to: this.#at };
    this.tokens.push(token);
    if (!this.#isIn('{') && (kind === 'operator' || WORDS.test(token.text))) this.#operators += 1;
    if (this.#operators > MAX_OPERATORS) throw this.#fail(token, `an expression has at most ${String(MAX_OPERATORS)} operators`);
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#query)?.[0];
  }

  /** Reads one token, or what stands between tokens; false at the end. */
  #step(): boolean {
    const query = this.#query;
    const char = query[this.#at];
    if (char === undefined) return false;
    if (/\s/.test(char)) {
      this.#at += 1;
      return true;
    }
    if (char === '#') {
      const line = query.indexOf('\n', this.#at);
      this.#at = line < 0 ? query.length : line;
      return true;
    }
    if ('"\'`'.includes(char)) return this.#string(char);
    if (/[\d.]/.test(char) && this.#match(NUMBER) !== undefined) return this.#number(this.#match(NUMBER) ?? '');
    const isColon = char === ':' && (this.#isIn('[') || this.#isIn('{'));
    const name = isColon ? undefined : this.#match(NAME);
    if (name !== undefined) return this.#push(KEYWORD_NUMBERS.test(name) ? 'number' : 'identifier', this.#nameLength(name));
    if (',:()[]{}'.includes(char)) return this.#mark(char);
    const operator = OPERATORS.find((one) => query.startsWith(one, this.#at));
    if (operator !== undefined) return this.#push('operator', operator.length);
    throw this.#fail({ from: this.#at, to: this.#at + 1 }, `unexpected character: ${quoteChar(query, this.#at)}`);
  }

  #isIn(mark: string): boolean {
    return this.#open.at(-1)?.mark === mark;
  }

  /** In brackets a colon ends a name. */
  #nameLength(name: string): number {
    const colon = this.#isIn('[') ? name.indexOf(':') : -1;
    return colon < 0 ? name.length : colon;
  }

  #mark(char: string): true {
    if (OPEN[char] !== undefined) {
      this.#open.push({ mark: char, at: this.#at });
      if (this.#open.length > MAX_NESTING)
        throw this.#fail({ from: this.#at, to: this.#at + 1 }, `an expression has at most ${String(MAX_NESTING)} levels`);
    } else if (CLOSED[char] !== undefined) {
      const open = this.#open.pop();
      if (open === undefined || OPEN[open.mark] !== char)
        throw this.#fail({ from: this.#at, to: this.#at + 1 }, `unexpected right ${CLOSED[char] ?? ''} '${char}'`);
    }
    return this.#push('mark', 1);
  }

  #number(text: string): true {
    if (!GOOD_NUMBER.test(text))
      throw this.#fail({ from: this.#at, to: this.#at + text.length }, `bad number or duration syntax: ${quote(text)}`);
    return this.#push('number', text.length);
  }

  #string(mark: string): true {
    const from = this.#at;
    for (let at = from + 1; at < this.#query.length; at += 1) {
      const char = this.#query[at];
      if (char === mark) return this.#push('string', at + 1 - from);
      if (mark === '`') continue;
      if (char === '\n') break;
      if (char === '\\') at += 1;
    }
    throw this.#fail({ from, to: this.#query.length }, mark === '`' ? 'unterminated raw string' : 'unterminated quoted string');
  }
}

const quoteChar = (query: string, at: number): string => `'${String.fromCodePoint(query.codePointAt(at) ?? 0)}'`;

/** How Prometheus names a token in an error. */
export function tokenText({ kind, text }: Token): string {
  if (kind === 'end') return 'end of input';
  if (kind === 'operator') return `<op:${text}>`;
  if (kind === 'mark') return quote(text);
  return `${kind} ${kind === 'string' ? text : quote(text)}`;
}

/** Words that are no functions where a parenthesis follows. */
const KEYWORDS = new Set(
  `${AGGREGATORS.map(({ name }) => name).join(' ')} by without on ignoring group_left group_right offset fill fill_left fill_right and or unless atan2 bool`.split(
    ' ',
  ),
);

/** The places of tokens that belong to a duration: within brackets, and behind `offset`. */
function durationTokens(tokens: readonly Token[]): ReadonlySet<number> {
  const found = new Set<number>();
  /** Takes everything up to the end of the parentheses that open here. */
  const takeGroup = (from: number): number => {
    let depth = 0;
    for (let at = from; at < tokens.length; at += 1) {
      found.add(at);
      const { text } = tokens[at] ?? { text: '' };
      depth += '([{'.includes(text) && text !== '' ? 1 : ')]}'.includes(text) && text !== '' ? -1 : 0;
      if (depth === 0) return at;
    }
    return tokens.length;
  };
  for (let at = 0; at < tokens.length; at += 1) {
    const { kind, text } = tokens[at] ?? { kind: 'end', text: '' };
    if (text === '[' && kind === 'mark') at = takeGroup(at);
    else if (kind === 'identifier' && text.toLowerCase() === 'offset') {
      let next = at + 1;
      while (/^[+-]$/.test(tokens[next]?.text ?? '')) next += 1;
      if (tokens[next]?.text === '(') at = takeGroup(next);
      else if (tokens[next + 1]?.text === '(') {
        found.add(next);
        at = takeGroup(next + 1);
      }
    }
  }
  return found;
}

/**
 * The expression as lezer reads it: a number's last dot is a space (`2.`), every function has the name of one that it knows, and
 * functions of durations are in lower case. Throws where
 * there is no function of a name.
 */
export function forLezer(query: string, tokens: readonly Token[]): string {
  const durations = durationTokens(tokens);
  let out = '';
  let last = 0;
  tokens.forEach((token, at) => {
    const { kind, text, from, to } = token;
    const isDotted = kind === 'number' && /^[\d_]+\./.test(text) && !/^[\d_]+\.\d/.test(text);
    const isCall = kind === 'identifier' && tokens[at + 1]?.text === '(' && !durations.has(at);
    const isName = isCall && !KEYWORDS.has(text.toLowerCase()) && tokens[at - 1]?.text !== '@';
    if (isName && functionNamed(text) === undefined)
      throw new PromqlSyntaxError(query, { from, to }, `unknown function with name ${quote(text)}`);
    const isWord = kind === 'identifier' && durations.has(at) && tokens[at + 1]?.text === '(';
    if (!isDotted && !isName && !isWord) return;
    const plain = isDotted ? text.replace('.', '') : isWord ? text.toLowerCase() : 'pi';
    out += query.slice(last, from) + plain.padEnd(text.length);
    last = to;
  });
  return out + query.slice(last);
}

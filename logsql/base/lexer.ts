/**
 * LogsQL's tokens. A token is a run of letters, digits, `_` and `.`, a quoted string, or one other character (`=~`, `!~` and `!=`
 * are one token). White space separates, `#` begins a comment that ends with the line. No grammar here, so that the UI can colour by it.
 */
import { LogsqlSyntaxError } from './errors.ts';

export type Token = {
  readonly kind: 'word' | 'quoted' | 'punctuation' | 'end';
  /** The token's meaning: a quoted string without its quotes and escapes. */
  readonly text: string;
  /** The token as it was written. */
  readonly raw: string;
  readonly offset: number;
  /** White space or a comment stands before it. */
  readonly spaced: boolean;
};

const WORD = /[\p{L}\p{Nd}_.]+/uy;
/** Go's unicode.IsSpace, which JavaScript's \s is not (U+0085, U+FEFF). */
const TRIVIA = /(?:[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|#[^\n]*)+/y;

/** All tokens of a string, the last one of kind `end`. Never throws: a quote without its partner is a token of punctuation. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  for (;;) {
    TRIVIA.lastIndex = at;
    const spaced = TRIVIA.test(text);
    if (spaced) at = TRIVIA.lastIndex;
    if (at >= text.length) break;
    const token = tokenAt(text, at, spaced);
    tokens.push(token);
    at += token.raw.length;
  }
  tokens.push({ kind: 'end', text: '', raw: '', offset: text.length, spaced: false });
  return tokens;
}

function tokenAt(text: string, offset: number, spaced: boolean): Token {
  WORD.lastIndex = offset;
  const word = WORD.exec(text)?.[0];
  if (word !== undefined) return { kind: 'word', text: word, raw: word, offset, spaced };
  const quoted = quotedAt(text, offset);
  if (quoted !== null) return { kind: 'quoted', ...quoted, offset, spaced };
  const pair = text.slice(offset, offset + 2);
  const raw = pair === '=~' || pair === '!~' || pair === '!=' ? pair : String.fromCodePoint(text.codePointAt(offset) ?? 0);
  return { kind: 'punctuation', text: raw, raw, offset, spaced };
}

function quotedAt(text: string, offset: number): { readonly text: string; readonly raw: string } | null {
  const quote = text[offset];
  if (quote === '`') {
    const end = text.indexOf('`', offset + 1);
    return end < 0 ? null : { text: text.slice(offset + 1, end).replaceAll('\r', ''), raw: text.slice(offset, end + 1) };
  }
  return quote === '"' || quote === "'" ? escapedAt(text, offset, quote) : null;
}

/** The quoted string at the very beginning (`"…"` or backquotes), without its quotes and with its length; null when there is none. */
export function unquotePrefix(text: string): { readonly text: string; readonly raw: string } | null {
  return text.startsWith('"') || text.startsWith('`') ? quotedAt(text, 0) : null;
}

const ESCAPES: Readonly<Record<string, string>> = { a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', '\\': '\\' };
const CODE = /x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})/y;

/** Not Buffer, which browsers lack: the editor of the pages has this lexer too. */
const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** Go's escapes, as in strconv.Unquote. In double quotes `\x` and octal are bytes of UTF-8, in single quotes characters. */
function escapedAt(text: string, offset: number, quote: string): { readonly text: string; readonly raw: string } | null {
  let out = '';
  let bytes: number[] = [];
  const flush = (): void => {
    if (bytes.length > 0) out += UTF8.decode(new Uint8Array(bytes));
    bytes = [];
  };
  for (let at = offset + 1; at < text.length; at += 1) {
    const char = text[at] ?? '';
    if (char === quote) {
      flush();
      return { text: out, raw: text.slice(offset, at + 1) };
    }
    if (char === '\n' && quote === '"') return null;
    if (char !== '\\') {
      flush();
      out += char;
      continue;
    }
    const next = text[at + 1] ?? '';
    CODE.lastIndex = at + 1;
    const code = CODE.exec(text);
    if (code !== null) {
      const [, hex, short, long, octal] = code;
      const value = octal === undefined ? parseInt(hex ?? short ?? long ?? '', 16) : parseInt(octal, 8);
      const isByte = hex !== undefined || octal !== undefined;
      if ((octal !== undefined && value > 255) || value > 0x10ffff || (!isByte && value >= 0xd800 && value <= 0xdfff)) return null;
      if (isByte && quote === '"') bytes.push(value);
      else {
        flush();
        out += String.fromCodePoint(value);
      }
      at = CODE.lastIndex - 1;
      continue;
    }
    const plain = next === quote ? quote : Object.hasOwn(ESCAPES, next) ? ESCAPES[next] : undefined;
    if (plain === undefined) return null;
    flush();
    out += plain;
    at += 1;
  }
  return null;
}

/** What ends a compound token: punctuation with a meaning of its own, and the end. */
const STOP = [',', '(', ')', '[', ']', '|', ''];
const STOP_ARGUMENT = ['*', ',', '(', ')', '|', ''];

/** A cursor over tokens. `save` and `restore` go back, for the few places where the grammar needs to try. */
export class Lexer {
  readonly text: string;
  readonly #tokens: readonly Token[];
  #index = 0;

  constructor(text: string) {
    this.text = text;
    this.#tokens = tokenize(text);
  }

  get current(): Token {
    return this.#tokens[this.#index] ?? END;
  }
  /** The string of the token before the current one; '' at the beginning. */
  get previous(): string {
    return this.#tokens[this.#index - 1]?.text ?? '';
  }
  get token(): string {
    return this.current.text;
  }
  get raw(): string {
    return this.current.raw;
  }
  get offset(): number {
    return this.current.offset;
  }
  get spaced(): boolean {
    return this.current.spaced;
  }
  get isEnd(): boolean {
    return this.current.kind === 'end';
  }
  /** The lower-case string of a token that is not quoted; '' at the end and null for a quoted one. */
  get keyword(): string | null {
    return this.current.kind === 'quoted' ? null : this.current.text.toLowerCase();
  }

  /** True when the current token is one of these keywords (lower case), not quoted; '' is the end. */
  is(...keywords: readonly string[]): boolean {
    const keyword = this.keyword;
    return keyword !== null && keywords.includes(keyword);
  }
  /** Moves on and returns the string of the token that was current. */
  next(): string {
    const { text } = this.current;
    if (this.#index < this.#tokens.length - 1) this.#index += 1;
    return text;
  }
  /** Moves past one of the keywords if it is there. */
  accept(...keywords: readonly string[]): boolean {
    const found = this.is(...keywords);
    if (found) this.next();
    return found;
  }
  /** Moves past this keyword, which must be there. */
  expect(keyword: string): void {
    if (!this.accept(keyword)) this.fail(`expected ${JSON.stringify(keyword)}`);
  }
  save(): number {
    return this.#index;
  }
  restore(index: number): void {
    this.#index = index;
  }
  /** Ends parsing here, with what was expected instead. */
  fail(expected: string): never {
    throw new LogsqlSyntaxError(this.offset, this.raw, expected);
  }

  /** The raw strings of the tokens that follow without white space, up to one of the stops. */
  #glue(stops: readonly string[]): string {
    let out = '';
    while (!this.spaced && !this.isEnd && !this.is(...stops)) {
      out += this.raw;
      this.next();
    }
    return out;
  }
  #compound(stops: readonly string[], glueStops: readonly string[], what: string): string {
    this.#noBrokenQuote();
    if (this.is(...stops)) this.fail(`expected ${what}`);
    const { text, raw } = this.current;
    this.next();
    const rest = this.#glue(glueStops);
    return rest === '' ? text : raw + rest;
  }
  #noBrokenQuote(): void {
    if (this.is('"', "'", '`')) this.fail('expected a string whose quotes and escapes are complete');
  }

  /** Adjacent tokens as one phrase (`foo-bar`, `1.2.3.4`); quotes are taken off only when nothing is glued on. */
  phrase(allowColon: boolean): string {
    const stops = [...STOP, '*'];
    return this.#compound(stops, allowColon ? stops : [...stops, ':'], 'a word or a phrase');
  }
  /** What is glued on after a word that was taken already. */
  suffix(allowColon: boolean): string {
    return this.#glue(allowColon ? [...STOP, '*'] : [...STOP, '*', ':']);
  }
  /** Adjacent tokens as one token: names, numbers, times. `:` and `*` do not end it. */
  compound(what = 'a word'): string {
    return this.#compound(STOP, STOP, what);
  }
  /** The key or the value of `key=value`. */
  keyOrValue(what: string): string {
    return this.#compound([...STOP, '='], [...STOP, '='], what);
  }
  /** A field or number of an expression: up to one of its operators. */
  operand(stops: readonly string[]): string {
    return this.#compound(stops, stops, 'a field or a number');
  }
  /** The name of a label in a stream selector: up to its operator. */
  compoundLabel(): string {
    const stops = [...STOP, '{', '}', '=', '!=', '=~', '!~'];
    return this.#compound(stops, stops, 'a label');
  }
  /** An argument of a function, or the value after `=`; empty before `*`. Brackets and colons do not end it. */
  argument(): string {
    this.#noBrokenQuote();
    if (this.is('*')) return '';
    const { text, raw } = this.current;
    this.next();
    const rest = this.#glue(STOP_ARGUMENT);
    return rest === '' ? text : raw + rest;
  }
}

const END: Token = { kind: 'end', text: '', raw: '', offset: 0, spaced: false };

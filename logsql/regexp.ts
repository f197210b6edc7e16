/** Regexps of users: RE2 syntax, linear time. Compiled here by re2js, in ClickHouse by RE2. */
import { RE2JS, RE2JSException } from 're2js';

/** Longest regexp that is accepted, in UTF-8 bytes. */
export const MAX_REGEXP_BYTES = 1024;

/** A compiled regexp. `source` is as written; `.` does not match a newline unless it says `(?s)`. */
export type Regexp = {
  readonly source: string;
  /** The names of its named groups, in order. */
  readonly groups: readonly string[];
  test(text: string): boolean;
  /** The named groups of the first match; null when there is none. */
  match(text: string): ReadonlyMap<string, string> | null;
  /** The text with up to `limit` matches replaced; `$1` and `${name}` stand for groups. */
  replace(text: string, replacement: string, limit: number): string;
};

/** Why a regexp was refused, for the one who wrote it. */
export class RegexpError extends Error {}

/** Compiles, or throws RegexpError with the reason. `anchored` makes it match whole texts, as in stream selectors. */
export function compileRegexp(source: string, anchored = false): Regexp {
  if (Buffer.byteLength(source) > MAX_REGEXP_BYTES) throw new RegexpError(`a regexp has at most ${String(MAX_REGEXP_BYTES)} bytes`);
  try {
    // By itself first: `)(` would be whole inside the anchors.
    const plain = RE2JS.compile(source);
    return wrap(source, anchored ? RE2JS.compile(`^(?:${source})$`) : plain);
  } catch (error) {
    if (error instanceof RE2JSException || error instanceof RangeError)
      throw new RegexpError(error.message.replace(/^error parsing regexp: /, ''));
    throw error;
  }
}

function wrap(source: string, compiled: RE2JS): Regexp {
  const named = Object.entries(compiled.namedGroups()).sort(([, a], [, b]) => a - b);
  return {
    source,
    groups: named.map(([name]) => name),
    test: (text) => compiled.test(text),
    match: (text) => {
      const matcher = compiled.matcher(text);
      return matcher.find() ? new Map(named.map(([name, index]) => [name, matcher.group(index) ?? ''])) : null;
    },
    replace: (text, replacement, limit) => replaceMatches(compiled, text, replacement, limit),
  };
}

function replaceMatches(compiled: RE2JS, text: string, replacement: string, limit: number): string {
  const matcher = compiled.matcher(text);
  const names = compiled.namedGroups();
  let out = '';
  let at = 0;
  for (let done = 0; done < limit && matcher.find(); done += 1) {
    const group = (name: string): string => {
      const index = /^[0-9]+$/.test(name) ? Number(name) : (names[name] ?? -1);
      return index < 0 || index > compiled.groupCount() ? '' : (matcher.group(index) ?? '');
    };
    out += text.slice(at, matcher.start()) + expand(replacement, group);
    at = matcher.end();
  }
  return out + text.slice(at);
}

/** `$1`, `$name`, `${name}` and `$$` in a replacement, as Go's Regexp.Expand has them: a name is as long as it can be. */
const expand = (replacement: string, group: (name: string) => string): string =>
  replacement.replace(/\$(?:\$|\{(\w+)\}|(\w+))/g, (all, braced: string | undefined, bare: string | undefined) =>
    all === '$$' ? '$' : group(braced ?? bare ?? ''),
  );

/** The regexp that matches exactly this text (RE2's QuoteMeta). */
export function quoteRegexp(text: string): string {
  let out = '';
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    if (code < 0x20 || code === 0x7f) out += `\\x${code.toString(16).padStart(2, '0')}`;
    else out += code < 0x80 && !/[0-9A-Za-z_]/.test(char) ? `\\${char}` : char;
  }
  return out;
}

const WIDE = /\\Q([^]*?)(?:\\E|$)|\\[^]|\[\^?\]?(?:\[:\^?\w+:\]|\\[^]|[^\]\\])*\]|(\P{ASCII})(?=[?*{])/gu;

/**
 * The same regexp for ClickHouse, which first looks for the literal parts of a regexp by bytes: there `и?` leaves the first byte of `и`
 * in, so that `ошибки?` would miss `ошибк`. In a group of its own the character is left out as a whole.
 */
export const groupWide = (source: string): string =>
  source.replace(WIDE, (all, literal: string | undefined, wide: string | undefined) => {
    if (wide !== undefined) return `(?:${wide})`;
    return literal === undefined ? all : Array.from(literal, (char) => `(?:${quoteRegexp(char)})`).join('');
  });

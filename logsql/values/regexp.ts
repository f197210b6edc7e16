/** Regexps of users: RE2 syntax, linear time. Compiled here by re2js, in ClickHouse by RE2. */
import { RE2JS, RE2JSException } from 're2js';

/** Most instructions of the compiled regexps of one query together: what a match costs for each character of a value. */
export const MAX_PROGRAM_SIZE = 10_000;
/** A source whose program may exceed the limit this many times is not compiled at all. */
const HOPELESS = 4;

/**
 * What a regexp is for. `filter`: found anywhere in a value, and `.` matches a newline. `label`: the same for a whole value.
 * `pipe`: as Go's regexp has it, anywhere, and `.` does not match a newline. Flags in the regexp itself come first.
 */
export type RegexpKind = 'filter' | 'label' | 'pipe';

/** A compiled regexp. `source` is as written. */
export type Regexp = {
  readonly source: string;
  /** How many instructions the program has. */
  readonly size: number;
  /** The names of its named groups, in order. */
  readonly groups: readonly string[];
  test(text: string): boolean;
  /** The named groups of the first match; null when there is none. */
  match(text: string): ReadonlyMap<string, string> | null;
  /** The string with up to `limit` matches replaced; `$1` and `${name}` are groups. `onPart` is given the length so far, and may throw. */
  replace(text: string, replacement: string, limit: number, onPart?: (length: number) => void): string;
};

/** Why a regexp was refused, for the one who wrote it. */
export class RegexpError extends Error {}

/** Compiles, or throws RegexpError with the reason. */
export function compileRegexp(source: string, kind: RegexpKind): Regexp {
  if (sizeBound(source) > HOPELESS * MAX_PROGRAM_SIZE) throw tooLarge();
  try {
    // By itself first: `)(` would be whole inside the anchors.
    const plain = RE2JS.compile(source, kind === 'pipe' ? 0 : RE2JS.DOTALL);
    const compiled = wrap(source, kind === 'label' ? RE2JS.compile(`^(?:${source})$`, RE2JS.DOTALL) : plain);
    if (compiled.size > MAX_PROGRAM_SIZE) throw tooLarge();
    return compiled;
  } catch (error) {
    if (error instanceof RE2JSException || error instanceof RangeError)
      throw new RegexpError(error.message.replace(/^error parsing regexp: /, ''));
    throw error;
  }
}

/** The refusal of regexps that are too large together. */
export const tooLarge = (most = MAX_PROGRAM_SIZE): RegexpError =>
  new RegexpError(`the regexps of a query compile to at most ${String(most)} instructions together; use fewer or smaller repetitions`);

const REPEAT = /\{(\d+)(?:,(\d*))?\}/y;

/**
 * About as many instructions as the program of a regexp has, counted in one pass without compiling: repetitions multiply what they
 * repeat. Never much less.
 */
function sizeBound(source: string): number {
  const outer: number[] = [];
  let [total, last] = [0, 0];
  for (let at = 0; at < source.length;) {
    REPEAT.lastIndex = at;
    const repeat = REPEAT.exec(source);
    if (repeat !== null) {
      const [all, least = '', most = least] = repeat;
      const repeated = (last + 1) * Math.max(1, Number(most === '' ? least : most) + (most === '' ? 1 : 0));
      total += repeated - last;
      last = repeated;
      at += all.length;
      continue;
    }
    const end = atomEnd(source, at);
    if (source[at] === '(' && source[end - 1] !== ')') {
      outer.push(total);
      total = 0;
    } else if (source[at] === ')') {
      last = total + 2;
      total = (outer.pop() ?? 0) + last;
    } else {
      last = source.startsWith('\\Q', at) ? end - at : 1;
      total += last;
    }
    at = end;
  }
  return outer.reduce((sum, part) => sum + part, total);
}

/** Where the atom, operator or beginning of a group ends that stands here; behind a `)` for flags alone (`(?i)`). */
function atomEnd(source: string, at: number): number {
  const behind = (mark: string, from: number): number => {
    const found = source.indexOf(mark, from);
    return found < 0 ? source.length : found + mark.length;
  };
  if (source[at] === '[') return classEnd(source, at);
  if (source.startsWith('(?', at)) {
    let end = at + 2;
    while (end < source.length && !':)>'.includes(source[end] ?? '')) end += 1;
    return Math.min(end + 1, source.length);
  }
  if (source[at] !== '\\') return at + 1;
  if (source[at + 1] === 'Q') return behind('\\E', at + 2);
  return /^[pPx]\{/.test(source.slice(at + 1, at + 3)) ? behind('}', at + 3) : at + 2;
}

function classEnd(source: string, at: number): number {
  let end = at + (source[at + 1] === '^' ? 2 : 1);
  for (let isFirst = true; end < source.length; isFirst = false) {
    if (source[end] === ']' && !isFirst) return end + 1;
    const named = source.startsWith('[:', end) ? source.indexOf(':]', end) : -1;
    end = named >= 0 ? named + 2 : end + (source[end] === '\\' ? 2 : 1);
  }
  return source.length;
}

function wrap(source: string, compiled: RE2JS): Regexp {
  const named = Object.entries(compiled.namedGroups()).sort(([, a], [, b]) => a - b);
  return {
    source,
    size: compiled.programSize(),
    groups: named.map(([name]) => name),
    test: (text) => compiled.test(text),
    match: (text) => {
      const matcher = compiled.matcher(text);
      return matcher.find() ? new Map(named.map(([name, index]) => [name, matcher.group(index) ?? ''])) : null;
    },
    replace: (text, replacement, limit, onPart) => replaceMatches(compiled, text, replacement, limit, onPart),
  };
}

function replaceMatches(compiled: RE2JS, text: string, replacement: string, limit: number, onPart?: (length: number) => void): string {
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
    onPart?.(out.length);
  }
  return out + text.slice(at);
}

/** `$1`, `$name`, `${name}` and `$$` in a replacement, as Go's Regexp.Expand has them: a name is as long as it can be. */
const expand = (replacement: string, group: (name: string) => string): string =>
  replacement.replace(/\$(?:\$|\{(\w+)\}|(\w+))/g, (all, braced: string | undefined, bare: string | undefined) =>
    all === '$$' ? '$' : group(braced ?? bare ?? ''),
  );

/** The regexp that matches exactly this string (RE2's QuoteMeta). */
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

/** Regexps of users: RE2 syntax, linear time. Compiled here by re2js, in ClickHouse by RE2. */
import { RE2JS, RE2JSException } from 're2js';

/** Longest regexp that is accepted, in UTF-8 bytes. */
export const MAX_REGEXP_BYTES = 1024;

/** A compiled regexp. `source` is as written; `.` does not match a newline unless it says `(?s)`. */
export type Regexp = { readonly source: string; test(text: string): boolean };

/** Why a regexp was refused, for the one who wrote it. */
export class RegexpError extends Error {}

/** Compiles, or throws RegexpError with the reason. `anchored` makes it match whole texts, as in stream selectors. */
export function compileRegexp(source: string, anchored = false): Regexp {
  if (Buffer.byteLength(source) > MAX_REGEXP_BYTES) throw new RegexpError(`a regexp has at most ${String(MAX_REGEXP_BYTES)} bytes`);
  try {
    const compiled = RE2JS.compile(anchored ? `^(?:${source})$` : source);
    if (anchored) RE2JS.compile(source);
    return { source, test: (text) => compiled.test(text) };
  } catch (error) {
    if (error instanceof RE2JSException || error instanceof RangeError)
      throw new RegexpError(error.message.replace(/^error parsing regexp: /, ''));
    throw error;
  }
}

/** The regexp that matches exactly this text (RE2's QuoteMeta). */
export function quoteRegexp(text: string): string {
  return text.replace(/[\0-\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\x7f]/g, (char) => {
    const code = char.charCodeAt(0);
    return code < 0x20 || code === 0x7f ? `\\x${code.toString(16).padStart(2, '0')}` : `\\${char}`;
  });
}

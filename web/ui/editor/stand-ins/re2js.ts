/**
 * In place of `re2js`, which is larger than all the rest of the editor: the browser's own regexps find most mistakes while one types, and the
 * server, which compiles with RE2, has the last word. What RE2 knows and the browser does not (`(?i)`, `\pL`, POSIX classes) is let through.
 */
export class RE2JSException extends Error {}

const ONLY_RE2 = /\(\?[a-zA-Z-]+[:)]|\(\?P<|\[\[:|\\[pPQEAzC]/;

export class RE2JS {
  static readonly DOTALL = 2;

  static compile(source: string): RE2JS {
    if (ONLY_RE2.test(source)) return new RE2JS();
    try {
      new RegExp(source);
    } catch (error) {
      throw new RE2JSException(error instanceof Error ? error.message.replace(/^Invalid regular expression: /, '') : 'not a regexp', {
        cause: error,
      });
    }
    return new RE2JS();
  }

  namedGroups(): Readonly<Record<string, number>> {
    return {};
  }

  programSize(): number {
    return 1;
  }
}

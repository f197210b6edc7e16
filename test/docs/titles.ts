/** The titles of the tests in a source, as they are written: those of `it` and `describe`, and of none that is skipped. */
export function titlesOf(source: string): string[] {
  const calls = source.matchAll(/(?<![\w.])(?:it|describe)\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`)/g);
  return [...calls].map(([, single, double, template]) => (single ?? double ?? template ?? '').replace(/\\(['"`])/g, '$1'));
}

/** The names of cases in a source: what a helper that makes a test, or a row of a table of tests, begins with. */
export function casesOf(source: string): string[] {
  const names = source.matchAll(/(?:(?<![\w.])(?!it\b|describe\b)[a-z]\w*\(|\[)\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)")\s*,/g);
  return [...names].map(([, single, double]) => (single ?? double ?? '').replace(/\\(['"`])/g, '$1'));
}

/** A label whose value stands in Go's quotes, as Loki's own clients write it. */
const LABEL = /\s*([A-Za-z_][\w.:/-]*)\s*=\s*("(?:[^"\\\n]|\\.)*")\s*(?:,|(?=\}))/y;
const CLOSE = /\s*\}\s*$/y;
/** The beginning of a label; the end of a value whose quotes are not escaped: a quote before the next label, or before the end. */
const BEGIN = /\s*([A-Za-z_][\w.:/-]*)\s*=\s*"/y;
const LOOSE_END = /"\s*(?:,\s*(?:[A-Za-z_][\w.:/-]*\s*=\s*"|\}\s*$)|\}\s*$)/y;
const COMMA = /\s*,?/y;
const ESCAPE = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.))/gs;
const LETTERS = new Map([...Object.entries({ a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' })]);

/** Longest label set as a string, in characters. */
export const MAX_LABELS_LENGTH = 65_536;

/**
 * Reads a label set as a string, `{app="web", host="h1"}` with Go's escapes (https://pkg.go.dev/strconv#Quote). winston-loki escapes
 * nothing, so that quotes may stand inside a value: such a set is read as it is meant, a value ending where the next label begins.
 * Null where it is not a label set.
 */
export function parseLokiLabels(text: string): Map<string, string> | null {
  const start = text.search(/\S/);
  if (start < 0 || text[start] !== '{' || text.length > MAX_LABELS_LENGTH) return null;
  return strictLabels(text, start + 1) ?? looseLabels(text, start + 1);
}

function strictLabels(text: string, start: number): Map<string, string> | null {
  const labels = new Map<string, string>();
  for (let at = start; !testAt(CLOSE, text, at); at = LABEL.lastIndex) {
    LABEL.lastIndex = at;
    const match = LABEL.exec(text);
    if (match === null) return null;
    labels.set(match[1] as string, unquote(match[2] as string));
  }
  return labels;
}

function looseLabels(text: string, start: number): Map<string, string> | null {
  const labels = new Map<string, string>();
  for (let at = start; !testAt(CLOSE, text, at);) {
    BEGIN.lastIndex = at;
    const name = BEGIN.exec(text)?.[1];
    if (name === undefined) return null;
    const value = BEGIN.lastIndex;
    let quote = text.indexOf('"', value);
    while (quote >= 0 && !testAt(LOOSE_END, text, quote)) quote = text.indexOf('"', quote + 1);
    if (quote < 0) return null;
    labels.set(name, text.slice(value, quote));
    testAt(COMMA, text, quote + 1);
    at = COMMA.lastIndex;
  }
  return labels;
}

function testAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}

function unquote(quoted: string): string {
  const text = quoted.slice(1, -1);
  if (!text.includes('\\')) return text;
  return text.replace(ESCAPE, (all, x?: string, u?: string, U?: string, octal?: string, letter?: string) => {
    if (letter !== undefined) return LETTERS.get(letter) ?? letter;
    const code = octal === undefined ? parseInt(x ?? u ?? U ?? '', 16) : parseInt(octal, 8);
    return code <= 0x10ffff ? String.fromCodePoint(code) : all;
  });
}

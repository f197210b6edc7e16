/** Stream labels and their one text form: `{app="web",host="h1"}`, sorted by name, values JSON-escaped. */

const PLAIN_NAME = /^[\p{L}_][\p{L}\p{N}_.:/-]*$/u;

/** Renders a label set. Labels with empty values are left out; names that are no plain words are quoted too. */
export function renderStream(labels: Iterable<readonly [string, string]>): string {
  const sorted = [...labels].filter(([, value]) => value !== '').sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return (
    '{' + sorted.map(([name, value]) => (PLAIN_NAME.test(name) ? name : JSON.stringify(name)) + '=' + JSON.stringify(value)).join(',') + '}'
  );
}

/** Reads what `renderStream` wrote. Throws on any other text. */
export function parseStream(text: string): Map<string, string> {
  const labels = new Map<string, string>();
  const fail = (at: number): never => {
    throw new Error(`Not a stream's label set at offset ${String(at)}: ${text}`);
  };
  const label = /(?:("(?:[^"\\]|\\.)*")|([^"{},=\s]+))=("(?:[^"\\]|\\.)*")/uy;
  if (!text.startsWith('{') || !text.endsWith('}')) fail(0);
  let at = 1;
  while (at < text.length - 1) {
    label.lastIndex = at;
    const match = label.exec(text);
    if (match === null) return fail(at);
    labels.set(match[1] === undefined ? (match[2] ?? '') : (JSON.parse(match[1]) as string), JSON.parse(match[3] ?? '""') as string);
    at = label.lastIndex;
    if (text[at] === ',') at += 1;
    else if (at !== text.length - 1) fail(at);
  }
  return labels;
}

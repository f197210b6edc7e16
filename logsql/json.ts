/** JSON as pipes read and write it: objects flattened to fields with dots, numbers as they were written. */

/** Escapes `'` and `<` too, as VictoriaLogs does in the JSON and quoted texts that its pipes make. */
export const quoteJson = (text: string): string => JSON.stringify(text).replaceAll("'", '\\u0027').replaceAll('<', '\\u003c');

const TOKEN = /"(?:[^"\\]|\\.)*"|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/g;
/** In front of what was a number: no text of JSON holds it raw, and one that has it escaped gets another before it. */
const NUMBER = '\u0001';

/** JSON text as a value whose numbers are texts of their source behind a mark; undefined when it is no JSON. */
function parseExact(text: string): unknown {
  const marked = text.replace(TOKEN, (token) =>
    token.startsWith('"') ? (token.startsWith('"\\u0001') ? `"\\u0001${token.slice(1)}` : token) : `"\\u0001n${token}"`,
  );
  try {
    return JSON.parse(marked);
  } catch {
    return undefined;
  }
}

/** The text of a parsed value: texts as they are, numbers as written, the rest as JSON. */
function textOfValue(value: unknown): string {
  if (typeof value !== 'string') return render(value);
  return value.startsWith(`${NUMBER}n`) ? value.slice(2) : unmark(value);
}

const unmark = (text: string): string => (text.startsWith(NUMBER) ? text.slice(1) : text);

function render(value: unknown): string {
  if (typeof value === 'string') return value.startsWith(`${NUMBER}n`) ? value.slice(2) : JSON.stringify(unmark(value));
  if (Array.isArray(value)) return `[${value.map(render).join(',')}]`;
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([key, part]) => `${JSON.stringify(key)}:${render(part)}`)
      .join(',')}}`;
  return JSON.stringify(value);
}

/** The fields of a JSON object: nested ones with dots, arrays as JSON text, without those that are null. Null when the text is no object. */
export function flattenJson(text: string): ReadonlyMap<string, string> | null {
  if (!text.trimStart().startsWith('{')) return null;
  const value = parseExact(text);
  if (typeof value !== 'object' || value === null) return null;
  const fields = new Map<string, string>();
  const add = (name: string, part: unknown): void => {
    if (typeof part === 'object' && part !== null && !Array.isArray(part))
      for (const [key, inner] of Object.entries(part)) add(`${name}.${key}`, inner);
    else if (part !== null) fields.set(name, textOfValue(part));
  };
  for (const [key, part] of Object.entries(value)) add(key, part);
  return fields;
}

/** The texts of the parts of a JSON array; null when the text is none. */
export function splitJsonArray(text: string): readonly string[] | null {
  if (!text.trimStart().startsWith('[')) return null;
  const value = parseExact(text);
  return Array.isArray(value) ? value.map(textOfValue) : null;
}

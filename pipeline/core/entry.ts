/**
 * The canonical LogEntry: what search returns, what live tail sends, what the CLI prints, and what LogsQL evaluates.
 * A value is text, or the literal of a JSON number or boolean exactly as the producer sent it.
 */

/** A JSON number or boolean by its source text (`18446744073709551615`, `1e3`, `true`), so that no digit is lost. */
export class Literal {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A field's value. Empty text is the same as a missing field and is never stored. */
export type FieldValue = string | Literal;

/** One log entry, or one row of a LogsQL pipe: field names to values. Entries have `_time`, `_msg` and `_stream`. */
export type LogEntry = Map<string, FieldValue>;

/** A value as a string; a missing field is the empty string (as in LogsQL). */
export function textOf(value: FieldValue | undefined): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : value.text;
}

/** A value as JSON. Non-finite numbers, which JSON lacks, are rendered as strings. */
export function renderValue(value: FieldValue): string {
  return typeof value === 'string' ? JSON.stringify(value) : value.text;
}

/**
 * The JSON object of an entry, fields in their order; the one renderer for search, tail and CLI. Empty ones are left out, but the message of a
 * whole entry, which a LogEntry always has.
 */
export function renderEntry(entry: LogEntry): string {
  const isWhole = entry.get('_msg') === '' && entry.has('_time') && entry.has('_stream');
  let out = '{';
  for (const [name, value] of entry) {
    if (value === '' && !(isWhole && name === '_msg')) continue;
    if (out.length > 1) out += ',';
    out += JSON.stringify(name) + ':' + renderValue(value);
  }
  return out + '}';
}

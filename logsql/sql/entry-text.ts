/**
 * Whole entries as JSON strings, put together from the JSON strings of their columns: what a search mostly answers, without reading the
 * values and writing them again (docs/adr/0009-latency-of-a-query.md).
 */
import { renderEntry } from '../../pipeline/core/entry.ts';
import { timeText } from './time.ts';
import type { EntryColumns, StreamNames } from '../base/table.ts';
import { readJson } from '../../pipeline/core/read-json.ts';

/** The columns of `entryColumns(FieldSet.all)`, in their order; the strings of a row are in the same order. */
const OWN = ['level', 'service', 'trace_id', 'span_id'] as const;
const [TIME, STREAM, MESSAGE, FIRST_OWN] = [0, 1, 2, 3];
const FIELDS = FIRST_OWN + OWN.length;
const JSON_KEYS = FIELDS + 1;

/** Renders the JSON object of an entry from the JSON strings of its columns; the same as a search renders of what `columns` decode. */
export function renderRow(texts: readonly string[], streams: StreamNames, columns: EntryColumns): string {
  const time = timeText(unquoted(texts[TIME]));
  const keys = keysIn(texts[JSON_KEYS] ?? '');
  if (keys === null) {
    const row = texts.map((text) => readJson(text));
    return renderEntry(columns.decode(row, streams).set('_time', time));
  }
  let out = `{"_time":"${time}","_stream":${JSON.stringify(streams.get(unquoted(texts[STREAM])) ?? '{}')}`;
  // a required member of a LogEntry, also where the line was empty
  out += `,"_msg":${texts[MESSAGE] ?? '""'}`;
  for (const [index, name] of OWN.entries()) {
    const text = texts[FIRST_OWN + index];
    if (text !== '""') out += `,"${name}":${text ?? ''}`;
  }
  const fields = texts[FIELDS] ?? '{}';
  return fields === '{}' ? `${out}}` : `${out},${withLiterals(fields, keys).slice(1)}`;
}

const unquoted = (text = '""'): string => text.slice(1, -1);

/** With more names reading the values and writing them again is quicker: each name costs a copy of the object. */
const MAX_KEYS = 32;

/**
 * The names in a JSON array of strings, as written there. Null where one has an escaped character; where one begins like what follows the
 * end of a string, which is ambiguous; where one has a column: the map has it again, for its type; and where there are many.
 */
function keysIn(text: string): readonly string[] | null {
  if (text === '[]') return [];
  const names = text.slice(2, -2).split('","');
  const isPlain = (name: string): boolean => !/^[,:]/.test(name) && name !== 'trace_id' && name !== 'span_id';
  return names.length <= MAX_KEYS && !text.includes('\\') && names.every(isPlain) ? names : null;
}

/** The object with the values of these names, which are numbers and booleans, without their quotes. */
function withLiterals(object: string, names: readonly string[]): string {
  let out = object;
  for (const name of names) {
    const member = `"${name}":"`;
    // Its first quote ends no string, as the name does not begin so, and after a comma or brace it is not escaped: it begins a name.
    for (let at = out.indexOf(member); at > 0; at = out.indexOf(member, at + 1)) {
      if (out[at - 1] !== '{' && out[at - 1] !== ',') continue;
      const from = at + member.length;
      const to = out.indexOf('"', from);
      out = `${out.slice(0, from - 1)}${out.slice(from, to)}${out.slice(to + 1)}`;
      break;
    }
  }
  return out;
}

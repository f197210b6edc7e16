/** Sessions of replay as rows of fields: the fields that each has (docs/replay.md), and rows of them read as such. */
import { Literal, type FieldValue, type LogEntry } from '../../pipeline/core/entry.ts';
import { renderStream } from '../../pipeline/core/labels.ts';
import { join, sql, type Sql } from '../../pipeline/core/sql.ts';
import type { FieldSet } from '../base/fields.ts';
import type { EntryColumns } from '../base/table.ts';
import { columnTime } from './time.ts';

/** A field: its column, as a string and as the number that it always is, and what becomes of the column's value. */
export type SessionField = {
  readonly name: string;
  readonly text: Sql;
  readonly number: Sql | null;
  read(value: string): FieldValue;
};

const text = (name: string, column: Sql): SessionField => ({ name, text: column, number: null, read: (value) => value });
const number = (name: string, column: Sql): SessionField => ({
  ...{ name, text: sql`toString(${column})`, number: sql`toFloat64(${column})` },
  read: (digits) => new Literal(digits),
});

/** Milliseconds, as RFC 3339 has them. */
const END = sql`concat(replaceOne(toString(ended), ' ', 'T'), 'Z')`;

/** The fields of a session in the order in which answers have them, behind `_time`: when it begins. */
export const SESSION_FIELDS: readonly SessionField[] = [
  text('session_id', sql`session`),
  text('end', END),
  number('duration_ms', sql`duration_ms`),
  text('url', sql`url`),
  text('user', sql`user_of`),
  text('service', sql`service_of`),
  text('version', sql`version_of`),
  number('events', sql`event_count`),
  number('pages', sql`length(urls_of)`),
  number('clicks', sql`click_count`),
  number('rage_clicks', sql`rage_clicks`),
  number('errors', sql`error_count`),
  number('failed_requests', sql`failed_count`),
  number('bytes', sql`byte_count`),
];

type Reader = (entry: LogEntry, row: readonly unknown[]) => void;

/** An empty value is none. */
const set = (entry: LogEntry, name: string, value: FieldValue): void => {
  if (value !== '') entry.set(name, value);
};

/** The columns that give these fields, and rows of them as entries. */
export function sessionColumns(fields: FieldSet): EntryColumns {
  const columns: Sql[] = [];
  const readers: Reader[] = [];
  const add = (name: string, column: Sql, read: SessionField['read']): void => {
    if (!fields.has(name)) return;
    const at = columns.push(column) - 1;
    readers.push((entry, row) => {
      set(entry, name, read(String(row[at])));
    });
  };
  add('_time', sql`_time`, columnTime);
  for (const field of SESSION_FIELDS) add(field.name, field.text, (value) => field.read(value));
  // those that are long, or repeat another one, are shown where they are wanted by name
  const named = fields.list() ?? [];
  if (named.includes('urls')) add('urls', URLS, (value) => value);
  if (named.includes('_msg')) add('_msg', URLS, (value) => value);
  if (named.includes('_stream')) add('_stream', sql`service_of`, (service) => renderStream([['service', service]]));
  if (columns.length === 0) columns.push(sql`1`);
  return {
    list: join(columns, sql`, `),
    count: columns.length,
    streamColumns: [],
    decode: (row) => {
      const entry: LogEntry = new Map();
      for (const read of readers) read(entry, row);
      return entry;
    },
  };
}

/** All pages of a session: no address has a space. */
export const URLS = sql`arrayStringConcat(urls_of, ' ')`;

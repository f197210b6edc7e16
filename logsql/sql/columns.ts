/** Entries out of the table `logs`: only the columns that are needed, and rows read back as entries. */
import { Literal, type FieldValue, type LogEntry } from '../../pipeline/core/entry.ts';
import { join, sql, text, type Sql } from '../../pipeline/core/sql.ts';
import type { FieldSet } from '../base/fields.ts';
import { columnTime } from './time.ts';
import { formatStreamId } from '../values/stream-id.ts';
import type { EntryColumns, StreamNames } from '../base/table.ts';
import { promoted } from './promoted.ts';

/** Above this many fields of the map, the whole map is read instead of one subcolumn for each. */
const MAX_SUBCOLUMNS = 8;
const OWN = ['level', 'service', 'trace_id', 'span_id'] as const;
/** Fields that can be JSON numbers although they have columns of their own. */
const TYPED_OWN = new Set(['trace_id', 'span_id']);

type Reader = (entry: LogEntry, row: readonly unknown[], types: ReadonlySet<string>, streams: StreamNames) => void;

const NO_TYPES: ReadonlySet<string> = new Set();

/** The columns that give these fields. `_stream_id` is given only where it is named, unless it is wanted with all others. */
export function entryColumns(fields: FieldSet, tenantId: number, withStreamId = false): EntryColumns {
  const columns: Sql[] = [];
  const readers: Reader[] = [];
  const streamColumns: number[] = [];
  const add = (column: Sql, read: (at: number) => Reader): void => {
    readers.push(read(columns.length));
    columns.push(column);
  };
  if (fields.has('_time')) add(sql`_time`, (at) => (entry, row) => entry.set('_time', columnTime(String(row[at]))));
  if (fields.has('_stream')) {
    streamColumns.push(columns.length);
    add(sql`stream_id`, (at) => (entry, row, _types, streams) => entry.set('_stream', streams.get(String(row[at])) ?? '{}'));
  }
  if ((withStreamId || !fields.isOpen) && fields.has('_stream_id'))
    add(sql`stream_id`, (at) => (entry, row) => entry.set('_stream_id', formatStreamId(tenantId, String(row[at]))));
  if (fields.has('_msg')) add(sql`_msg`, (at) => (entry, row) => entry.set('_msg', String(row[at])));
  for (const name of OWN)
    if (fields.has(name)) add(OWN_COLUMNS[name], (at) => (entry, row, types) => setField(entry, name, row[at], types));
  const named = fields.list()?.filter((name) => !COLUMN_FIELDS.has(name)) ?? null;
  const hasMapFields = named === null || named.length > 0;
  if (named !== null && named.length <= MAX_SUBCOLUMNS)
    for (const name of named)
      add(promoted(name)?.whole ?? sql`fields[${text(name)}]`, (at) => (entry, row, types) => setField(entry, name, row[at], types));
  else if (hasMapFields) add(sql`fields`, (at) => (entry, row, types) => setMap(entry, row[at], types, fields));
  const typesAt = hasMapFields || (fields.list() ?? []).some((name) => TYPED_OWN.has(name)) ? columns.push(sql`json_keys`) - 1 : -1;
  if (columns.length === 0) columns.push(sql`1`);
  return {
    list: join(columns, sql`, `),
    count: columns.length,
    streamColumns,
    decode: (row, streams) => {
      const entry: LogEntry = new Map();
      const keys = typesAt < 0 ? [] : (row[typesAt] as readonly string[]);
      const types = keys.length === 0 ? NO_TYPES : new Set(keys);
      for (const read of readers) read(entry, row, types, streams);
      return entry;
    },
  };
}

const OWN_COLUMNS: Readonly<Record<(typeof OWN)[number], Sql>> = {
  level: sql`level`,
  service: sql`service`,
  trace_id: sql`trace_id`,
  span_id: sql`span_id`,
};
const COLUMN_FIELDS = new Set<string>(['_time', '_stream', '_stream_id', '_msg', ...OWN]);

function setField(entry: LogEntry, name: string, value: unknown, types: ReadonlySet<string>): void {
  const written = String(value);
  if (written !== '') entry.set(name, typed(name, written, types));
}

const typed = (name: string, value: string, types: ReadonlySet<string>): FieldValue => (types.has(name) ? new Literal(value) : value);

function setMap(entry: LogEntry, value: unknown, types: ReadonlySet<string>, fields: FieldSet): void {
  const map = value as Readonly<Record<string, string>>;
  for (const name of Object.keys(map))
    if (!COLUMN_FIELDS.has(name) && (fields.isOpen ? fields.names.length === 0 || fields.has(name) : fields.has(name)))
      entry.set(name, typed(name, map[name] ?? '', types));
}

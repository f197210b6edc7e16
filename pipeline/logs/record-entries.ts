import type { LogEntry } from '../core/entry.ts';
import { formatTime } from '../core/time.ts';
import { plainRows, type PlainRow } from './columns/plain-rows.ts';
import { entriesIn } from './columns/row-reader.ts';
import type { LogRecord } from './record.ts';
import { COLUMNS } from '../rows/native.ts';

/** The entries of a record, in their order. Throws where the record cannot be read. */
export function entriesOf({ encoding, value, count, streams }: Pick<LogRecord, 'encoding' | 'value' | 'count' | 'streams'>): LogEntry[] {
  if (count === 0) return [];
  const known = streams.toMap();
  const streamText = (id: string): string => known.get(id)?.text ?? '{}';
  if (encoding === COLUMNS) return entriesIn(value, count, streamText);
  return Array.from(plainRows(value), (row) => {
    if (typeof row === 'string') throw new Error(`The record cannot be read: a line of its value ${row}.`);
    return entryOf(row, streamText);
  });
}

function entryOf(row: PlainRow, streamText: (id: string) => string): LogEntry {
  const entry: LogEntry = new Map([
    ['_time', formatTime(row.time)],
    ['_stream', streamText(String(row.streamId))],
    ['_msg', row.message],
  ]);
  for (const name of ['level', 'service', 'trace_id', 'span_id'] as const) if (row[name] !== '') entry.set(name, row[name]);
  for (const [name, value] of row.fields) entry.set(name, value);
  return entry;
}

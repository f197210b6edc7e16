import { Literal, type LogEntry } from '../../core/entry.ts';
import { formatTime } from '../../core/time.ts';
import { readColumns, type ColumnsView } from './column-reader.ts';
import type { StringView } from '../../rows/string-view.ts';
import type { WordView } from '../../rows/word-view.ts';

/** The string of row `row`. */
export const stringAt = ({ bytes }: ColumnsView, { starts, ends }: StringView, row: number): string =>
  bytes.toString('utf8', starts[row], ends[row]);

/** The word of row `row`. */
export const wordAt = (view: ColumnsView, { keys, codes }: WordView, row: number): string => stringAt(view, keys, codes[row] as number);

/** The time of a row, in nanoseconds since the epoch. */
export const timeAt = ({ bytes, time }: ColumnsView, row: number): bigint => bytes.readBigInt64LE(time + 8 * row);

/** The id of a row's stream, as an unsigned decimal. */
export const streamIdAt = ({ bytes, streamId }: ColumnsView, row: number): string => String(bytes.readBigUInt64LE(streamId + 8 * row));

/** A row as a LogEntry. `streamText` returns the label set of a stream id, from the record's header. */
export function entryAt(view: ColumnsView, row: number, streamText: (id: string) => string): LogEntry {
  const entry: LogEntry = new Map([
    ['_time', formatTime(timeAt(view, row))],
    ['_stream', streamText(streamIdAt(view, row))],
    ['_msg', stringAt(view, view.message, row)],
  ]);
  const columns = [
    ['level', wordAt(view, view.level, row)],
    ['service', wordAt(view, view.service, row)],
    ['trace_id', stringAt(view, view.traceId, row)],
    ['span_id', stringAt(view, view.spanId, row)],
  ] as const;
  for (const [name, value] of columns) if (value !== '') entry.set(name, value);
  const literal = jsonNamesAt(view, row);
  for (let at = row === 0 ? 0 : (view.fieldEnds[row - 1] as number); at < (view.fieldEnds[row] as number); at++) {
    const name = wordAt(view, view.names, at);
    const value = stringAt(view, view.values, at);
    entry.set(name, literal.has(name) ? new Literal(value) : value);
  }
  return entry;
}

/** All entries of a value with the encoding `columns`. Throws where it is none, or has not `count` rows. */
export function entriesIn(value: Buffer, count: number, streamText: (id: string) => string): LogEntry[] {
  const view = readColumns(value, count);
  if (typeof view === 'string') throw new Error(`The record cannot be read: ${view}.`);
  return Array.from({ length: count }, (_, row) => entryAt(view, row, streamText));
}

function jsonNamesAt(view: ColumnsView, row: number): Set<string> {
  const names = new Set<string>();
  for (let at = row === 0 ? 0 : (view.jsonEnds[row - 1] as number); at < (view.jsonEnds[row] as number); at++)
    names.add(wordAt(view, view.jsonNames, at));
  return names;
}

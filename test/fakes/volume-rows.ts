import { encodeColumns } from '../../pipeline/logs/columns/column-encoder.ts';
import { readColumns, type ColumnsView } from '../../pipeline/logs/columns/column-reader.ts';
import { LogColumns } from '../../pipeline/logs/columns/log-columns.ts';
import { addPlainRow } from '../../pipeline/logs/columns/plain-rows.ts';
import { WordTable } from '../../pipeline/rows/words.ts';
import { Names } from '../../pipeline/logs/names.ts';
import type { AbsoluteRecord } from '../../pipeline/bus/producer/absolute-record.ts';
import type { Batch } from '../../pipeline/processors/base/processor.ts';
import { volumeLayout, type SegmentRow } from '../../pipeline/counters/volume-layout.ts';
import { streamOf } from './log-record.ts';

/** An entry as a test says it. */
export type PlainEntry = {
  /** Nanoseconds. */
  readonly time: bigint;
  readonly stream: bigint;
  readonly level?: string;
  readonly message?: string;
  readonly service?: string;
  readonly fields?: Readonly<Record<string, string>>;
};

/** Entries as the value of a record of `logs.v1`. */
export function entriesValue(entries: readonly PlainEntry[]): Buffer {
  const words = { names: new Names(), levels: new WordTable(), services: new WordTable() };
  const columns = new LogColumns({ ...words, names: words.names.ids }, 1);
  for (const { time, stream, level = '', message = 'm', service = '', fields = {} } of entries)
    addPlainRow(
      columns,
      { ...{ time, message, level, service, trace_id: 't1', span_id: '', severity: 0 }, streamId: stream, fields: Object.entries(fields) },
      words,
    );
  return encodeColumns(columns);
}

/** Entries as a processor sees them. */
function viewOf(entries: readonly PlainEntry[]): ColumnsView {
  const view = readColumns(entriesValue(entries), entries.length);
  if (typeof view === 'string') throw new Error(view);
  return view;
}

/** A record of the log with these entries. Its view is valid until the next one is made. */
export const batchOf = (entries: readonly PlainEntry[], more: Partial<Batch> = {}): Batch => ({
  kind: 'batch',
  partition: 3,
  offset: 0,
  appendedAt: 0,
  tenantId: 1,
  retentionDays: 30,
  bytes: 0,
  columns: entries.length === 0 ? null : viewOf(entries),
  streams: streamOf('5', '{}', 20_777),
  ...more,
});

/** What an entry counts in bytes, counted plainly. */
export const bytesOf = ({ level = '', message = 'm', service = '', fields = {} }: PlainEntry): number =>
  [level, message, service, 't1', ...Object.entries(fields).flat()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);

/** The rows of outputs that count entries. */
export const rowsIn = (outputs: readonly AbsoluteRecord[]): SegmentRow[] => allRowsIn(outputs).filter(({ tenantId }) => tenantId > 0);

/** The rows of outputs, which must be records that can be read. */
export const allRowsIn = (outputs: readonly AbsoluteRecord[]): SegmentRow[] =>
  outputs.flatMap(({ value, headers }) => {
    const rows = volumeLayout.read(value, Number(headers['count']));
    if (typeof rows === 'string') throw new Error(rows);
    return rows;
  });

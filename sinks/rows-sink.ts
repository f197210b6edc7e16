import type { Range } from '../pipeline/bus/consumer/range.ts';
import { positionOf } from '../pipeline/bus/records/record.ts';
import type { SignalRecord } from '../pipeline/bus/records/signal-record.ts';
import type { Signal } from '../pipeline/bus/records/signal.ts';
import type { Declared } from '../pipeline/rows/layout.ts';
import { columnsInsert, columnsTable } from './columns-insert.ts';
import { POSITION_COLUMNS, positionFrame, SHARED_COLUMNS, sharedFrame, type Position } from './shared-columns.ts';
import type { InsertOptions, Sink } from './sink.ts';

/** Rows come compressed, and few of much that was counted: this is hundreds of thousands of them. */
const HELD_BYTES = 8_000_000;

/** A sink of rows of many tenants into the table of its name: the value of a record goes as it is, behind a frame with its position. */
export const rowsSink = (name: string, signal: Signal, layout: Rows): Sink =>
  sinkOf(name, signal, [...POSITION_COLUMNS, ...layout.columns], (record, place, columns) => positionFrame(place, columns, record.count));

/** The same of records whose rows are of one tenant each, whose id and class stand in their headers. */
export const tenantRowsSink = (name: string, signal: Signal, layout: Rows): Sink =>
  sinkOf(name, signal, [...SHARED_COLUMNS, ...layout.columns], ({ tenantId, retentionDays, count }, place, columns) =>
    sharedFrame({ ...place, tenantId, retentionDays }, columns, count),
  );

type Rows = { readonly columns: readonly Declared[] };

/** What stands before the frames of a record. `columns`: how many there are in all. */
type Head = (record: SignalRecord, place: Position, columns: number) => Buffer;

function sinkOf(name: string, signal: Signal, columns: readonly Declared[], head: Head): Sink {
  const table = columnsTable(name, columns);
  const insertAll = (ranges: readonly Range[], options?: InsertOptions): ReturnType<Sink['insert']> =>
    columnsInsert(table, ranges, blocksOf(ranges, head, columns.length), options);
  return {
    ...{ name, signal, table: name },
    heldBytes: HELD_BYTES,
    forget: () => undefined,
    prepare: () => Promise.resolve(),
    insert: (range, options) => insertAll([range], options),
    insertAll,
  };
}

function* blocksOf(ranges: readonly Range[], head: Head, columns: number): Generator<Buffer> {
  for (const { partition, records } of ranges)
    for (const record of records) {
      if (record.count === 0) continue;
      yield head(record, { arrived: record.timestamp, partition, offset: positionOf(record) }, columns);
      yield record.value;
    }
}

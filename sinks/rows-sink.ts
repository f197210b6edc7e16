import type { Range } from '../pipeline/bus/consumer/range.ts';
import { positionOf } from '../pipeline/bus/records/record.ts';
import type { SignalRecord } from '../pipeline/bus/records/signal-record.ts';
import type { Signal } from '../pipeline/bus/records/signal.ts';
import type { Declared } from '../pipeline/rows/layout.ts';
import { columnsInsert, columnsTable } from './columns-insert.ts';
import { POSITION_COLUMNS, positionFrame, SHARED_COLUMNS, sharedFrame } from './shared-columns.ts';
import type { InsertOptions, Sink } from './sink.ts';

/** Rows come compressed, and few of much that was counted: this is hundreds of thousands of them. */
const HELD_BYTES = 8_000_000;

type Columns = { readonly columns: readonly Declared[] };
type Frame = (record: SignalRecord, partition: number, columns: number) => Buffer;

/** A sink of rows of many tenants into the table of its name: the value of a record goes as it is, behind a frame with its position. */
export const rowsSink = (name: string, signal: Signal, { columns }: Columns): Sink =>
  sinkOf(name, signal, [...POSITION_COLUMNS, ...columns], (record, partition, width) =>
    positionFrame({ arrived: record.timestamp, partition, offset: positionOf(record) }, width, record.count),
  );

/** A sink of rows of one tenant a record, into the table of its name: the frame before a value has tenant and class too. */
export const tenantRowsSink = (name: string, signal: Signal, { columns }: Columns): Sink =>
  sinkOf(name, signal, [...SHARED_COLUMNS, ...columns], (record, partition, width) => {
    const { tenantId, retentionDays, timestamp, count } = record;
    return sharedFrame({ tenantId, retentionDays, arrived: timestamp, partition, offset: positionOf(record) }, width, count);
  });

function sinkOf(name: string, signal: Signal, columns: readonly Declared[], frameOf: Frame): Sink {
  const table = columnsTable(name, columns);
  const insertAll = (ranges: readonly Range[], options?: InsertOptions): ReturnType<Sink['insert']> =>
    columnsInsert(table, ranges, blocksOf(ranges, columns.length, frameOf), options);
  return {
    ...{ name, signal, table: name },
    heldBytes: HELD_BYTES,
    forget: () => undefined,
    prepare: () => Promise.resolve(),
    insert: (range, options) => insertAll([range], options),
    insertAll,
  };
}

function* blocksOf(ranges: readonly Range[], columns: number, frameOf: Frame): Generator<Buffer> {
  for (const { partition, records } of ranges)
    for (const record of records) {
      if (record.count === 0) continue;
      yield frameOf(record, partition, columns);
      yield record.value;
    }
}

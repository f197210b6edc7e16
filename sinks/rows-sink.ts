import type { Range } from '../pipeline/bus/consumer/range.ts';
import { positionOf } from '../pipeline/bus/records/record.ts';
import type { Signal } from '../pipeline/bus/records/signal.ts';
import type { Declared } from '../pipeline/rows/layout.ts';
import { columnsInsert, columnsTable } from './columns-insert.ts';
import { POSITION_COLUMNS, positionFrame } from './shared-columns.ts';
import type { InsertOptions, Sink } from './sink.ts';

/** Rows come compressed, and few of much that was counted: this is hundreds of thousands of them. */
const HELD_BYTES = 8_000_000;

/** A sink of rows of many tenants into the table of its name: the value of a record goes as it is, behind a frame with its position. */
export function rowsSink(name: string, signal: Signal, { columns }: { readonly columns: readonly Declared[] }): Sink {
  const table = columnsTable(name, [...POSITION_COLUMNS, ...columns]);
  const insertAll = (ranges: readonly Range[], options?: InsertOptions): ReturnType<Sink['insert']> =>
    columnsInsert(table, ranges, blocksOf(ranges, table.names.length), options);
  return {
    ...{ name, signal, table: name },
    heldBytes: HELD_BYTES,
    forget: () => undefined,
    prepare: () => Promise.resolve(),
    insert: (range, options) => insertAll([range], options),
    insertAll,
  };
}

function* blocksOf(ranges: readonly Range[], columnCount: number): Generator<Buffer> {
  for (const { partition, records } of ranges)
    for (const record of records) {
      if (record.count === 0) continue;
      yield positionFrame({ arrived: record.timestamp, partition, offset: positionOf(record) }, columnCount, record.count);
      yield record.value;
    }
}

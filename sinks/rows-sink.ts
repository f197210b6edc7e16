import type { Range } from '../pipeline/bus/consumer/range.ts';
import { positionOf } from '../pipeline/bus/records/record.ts';
import type { Signal } from '../pipeline/bus/records/signal.ts';
import { columnsInsert } from './columns-insert.ts';
import { POSITION_COLUMNS, positionFrame } from './shared-columns.ts';
import type { InsertOptions, Sink } from './sink.ts';

/** Rows come compressed, and few of much that was counted: this is hundreds of thousands of them. */
const HELD_BYTES = 8_000_000;

/** The columns of a signal's rows, and the types that they have in a record. */
type Rows = {
  readonly name: string;
  readonly signal: Signal;
  readonly table: string;
  readonly columns: readonly string[];
  readonly structure: string;
};

/** A sink of rows of many tenants: the value of a record goes as it is, behind a frame with its position. */
export function rowsSink({ name, signal, table, columns, structure }: Rows): Sink {
  const names = [...POSITION_COLUMNS.map(([column]) => column), ...columns];
  const declared = [...POSITION_COLUMNS.map(([column, type]) => `${column} ${type}`), structure].join(', ');
  const insertAll = (ranges: readonly Range[], options?: InsertOptions): ReturnType<Sink['insert']> =>
    columnsInsert({ table, names, structure: declared }, ranges, blocksOf(ranges, names.length), options);
  return {
    ...{ name, signal, table },
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

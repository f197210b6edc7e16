import { countersSignal } from '../pipeline/counters/counters-signal.ts';
import { VOLUME_COLUMNS, VOLUME_STRUCTURE } from '../pipeline/counters/layout.ts';
import type { Range } from '../pipeline/bus/range.ts';
import { positionOf } from '../pipeline/bus/record.ts';
import { columnsInsert } from './columns-insert.ts';
import { POSITION_COLUMNS, positionFrame } from './shared-columns.ts';
import type { Insert, InsertOptions, Sink } from './sink.ts';

const NAMES = [...POSITION_COLUMNS.map(([name]) => name), ...VOLUME_COLUMNS];
const STRUCTURE = [...POSITION_COLUMNS.map(([name, type]) => `${name} ${type}`), VOLUME_STRUCTURE].join(', ');
const TABLE = { table: 'volume', names: NAMES, structure: STRUCTURE };

/** Rows come compressed, and few of much that was counted: this is hundreds of thousands of them. */
const HELD_BYTES = 8_000_000;

/** The rows of the volume into `volume`: the value of a record goes as it is, behind a frame that says where it lies. */
export const volumeSink: Sink = {
  name: 'volume',
  signal: countersSignal,
  table: 'volume',
  heldBytes: HELD_BYTES,
  forget: () => undefined,
  prepare: () => Promise.resolve(),
  insert: (range, options) => volumeInsert([range], options),
  insertAll: volumeInsert,
};

function volumeInsert(ranges: readonly Range[], options?: InsertOptions): Insert {
  return columnsInsert(TABLE, ranges, blocksOf(ranges), options);
}

function* blocksOf(ranges: readonly Range[]): Generator<Buffer> {
  for (const { partition, records } of ranges)
    for (const record of records) {
      if (record.count === 0) continue;
      yield positionFrame({ arrived: record.timestamp, partition, offset: positionOf(record) }, NAMES.length, record.count);
      yield record.value;
    }
}

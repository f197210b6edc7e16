import type { Range } from '../pipeline/bus/consumer/range.ts';
import { positionOf } from '../pipeline/bus/records/record.ts';
import { sampleLayout } from '../pipeline/samples/sample.ts';
import { numbersOf, type SamplesRecord } from '../pipeline/samples/samples-record.ts';
import { samplesSignal } from '../pipeline/samples/samples-signal.ts';
import type { Store } from '../pipeline/store/client.ts';
import { columnsInsert, columnsTable } from './columns-insert.ts';
import { SeriesRows } from './series-rows.ts';
import { NUMBERED_COLUMNS, sharedFrame } from './shared-columns.ts';
import type { Sink } from './sink.ts';

/** What identifies a row in a block. */
const KEY = 'kafka_off, arrived_ms, toUInt32(kafka_idx)';
const TABLE = columnsTable('samples', [...NUMBERED_COLUMNS, ...sampleLayout.columns], KEY);
/** Records are compressed, and their definitions are most of them. */
const HELD_BYTES = 48_000_000;

/** Samples into `samples`, and the series that they belong to into `series`, `series_labels` and `metrics`, before them. */
export function createSamplesSink(): Sink<SamplesRecord> {
  let rows = new SeriesRows();
  const insertAll: NonNullable<Sink<SamplesRecord>['insertAll']> = (ranges, options) =>
    columnsInsert(TABLE, ranges, blocksOf(ranges), options);
  return {
    ...{ name: 'samples', signal: samplesSignal, table: 'samples', heldBytes: HELD_BYTES },
    fresh: createSamplesSink,
    forget() {
      rows = new SeriesRows();
    },
    prepare: (records: readonly SamplesRecord[], store: Store) => rows.write(records, store),
    insert: (range, options) => insertAll([range], options ?? {}),
    insertAll,
  };
}

/** Of a value the first part goes as it is, behind a frame with its position. */
function* blocksOf(ranges: readonly Range<SamplesRecord>[]): Generator<Buffer> {
  for (const { partition, records } of ranges)
    for (const record of records) {
      const { tenantId, retentionDays, timestamp, count } = record;
      if (count === 0) continue;
      yield sharedFrame(
        { tenantId, retentionDays, arrived: timestamp, partition, offset: positionOf(record) },
        TABLE.names.length,
        count,
        NUMBERED_COLUMNS,
      );
      yield numbersOf(record);
    }
}

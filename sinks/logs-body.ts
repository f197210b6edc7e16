import { positionOf } from '../pipeline/bus/records/record.ts';
import type { Range } from '../pipeline/bus/consumer/range.ts';
import { readColumns } from '../pipeline/logs/columns/column-reader.ts';
import { logLayout } from '../pipeline/logs/columns/log-layout.ts';
import { LogColumns } from '../pipeline/logs/columns/log-columns.ts';
import { addPlainRow, plainRows } from '../pipeline/logs/columns/plain-rows.ts';
import { addView, type Words } from '../pipeline/logs/columns/view-rows.ts';
import { WordTable } from '../pipeline/rows/words.ts';
import { MAX_FIELDS } from '../pipeline/logs/draft.ts';
import { Names } from '../pipeline/logs/names.ts';
import type { LogRecord } from '../pipeline/logs/record.ts';
import { COLUMNS } from '../pipeline/rows/native.ts';
import { mixedFrames, type MixedRows } from './mixed-rows.ts';
import { columnsInsert, columnsTable } from './columns-insert.ts';
import { SHARED_COLUMNS, sharedFrame, type SharedValues } from './shared-columns.ts';
import type { Insert, InsertOptions } from './sink.ts';

/**
 * A record of fewer rows is not a block of its own: what ClickHouse does for each block and column would cost more than copying the rows
 * into a block with those of others (docs/adr/0014-columns-on-the-log.md).
 */
const OWN_BLOCK_ROWS = 64;
/** Rows of records that share a block, at most. */
const MIXED_ROWS = 20_000;

const TABLE = columnsTable('logs', [...SHARED_COLUMNS, ...logLayout.columns]);
const COLUMN_COUNT = TABLE.names.length;

/**
 * The statement for ranges, and its body. The value of a record goes as it is: before it stands a frame with the columns that all of its
 * rows share.
 */
export const logsInsert = (ranges: readonly Range<LogRecord>[], options?: InsertOptions): Insert =>
  columnsInsert(TABLE, ranges, blocksOf(ranges), options);

/** The words of all records of this process that share blocks. */
const words: Words = { names: new Names(), levels: new WordTable(), services: new WordTable() };
const columns = new LogColumns({ names: words.names.ids, levels: words.levels, services: words.services }, 1024);

function* blocksOf(ranges: readonly Range<LogRecord>[]): Generator<Buffer> {
  const mixed = new MixedBlock();
  for (const { partition, records } of ranges) for (const record of records) yield* blockOf(record, partition, mixed);
  yield* mixed.close();
}

function* blockOf(record: LogRecord, partition: number, mixed: MixedBlock): Generator<Buffer> {
  const { tenantId, timestamp, retentionDays, count, encoding, value } = record;
  if (count === 0) return;
  const shared = { tenantId, arrived: timestamp, partition, offset: positionOf(record), retentionDays };
  if (encoding !== COLUMNS) yield* mixed.addPlain(shared, value);
  else if (count < OWN_BLOCK_ROWS) yield* mixed.addColumns(shared, value, count);
  else {
    yield sharedFrame(shared, COLUMN_COUNT, count);
    yield value;
  }
}

/** No record of few rows has more names than this. */
const MAX_NEW_NAMES = OWN_BLOCK_ROWS * MAX_FIELDS;

/** Collects rows of several records in one block. The records were checked when they were read, so they can be read. */
class MixedBlock {
  readonly #rows: MixedRows['rows'][number][] = [];

  *addColumns(shared: SharedValues, value: Buffer, count: number): Generator<Buffer> {
    if (columns.count >= MIXED_ROWS || !columns.fits(count, MAX_NEW_NAMES)) yield* this.close();
    words.names.trim();
    const view = readColumns(value, count);
    if (typeof view === 'string') throw new Error(`BUG: a checked record cannot be read: ${view}.`);
    addView(columns, view, words);
    this.#rows.push({ shared, first: 0, count });
  }

  *addPlain(shared: SharedValues, value: Buffer): Generator<Buffer> {
    words.names.trim();
    let [first, index] = [0, 0];
    for (const row of plainRows(value)) {
      if (typeof row === 'string') throw new Error(`BUG: a row of a checked record ${row}.`);
      if (columns.count >= MIXED_ROWS || !columns.fits(1, row.fields.length)) {
        if (index > first) this.#rows.push({ shared, first, count: index - first });
        yield* this.close();
        first = index;
      }
      addPlainRow(columns, row, words);
      index += 1;
    }
    this.#rows.push({ shared, first, count: index - first });
  }

  *close(): Generator<Buffer> {
    if (columns.count > 0) yield mixedFrames({ columns, rows: this.#rows }, COLUMN_COUNT);
    columns.clear();
    this.#rows.length = 0;
  }
}

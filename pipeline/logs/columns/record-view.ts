import { Names } from '../names.ts';
import { NDJSON, type LogRecord } from '../record.ts';
import { encodeColumns } from './column-encoder.ts';
import { readColumns, type ColumnsView } from './column-reader.ts';
import { LogColumns } from './log-columns.ts';
import { addPlainRow, plainRows } from './plain-rows.ts';
import type { Words } from './view-rows.ts';
import { WordTable } from '../../rows/words.ts';

/** The words of records of lines: other producers write them, those of this service seldom do. */
const words: Words = { names: new Names(), levels: new WordTable(), services: new WordTable() };

/**
 * The columns of a record of either encoding; null where its value is not what its headers state or is empty. The view is valid until the
 * next record is read.
 */
export function viewOf({ encoding, value, count }: Pick<LogRecord, 'encoding' | 'value' | 'count'>): ColumnsView | null {
  if (count === 0) return null;
  const view = readColumns(encoding === NDJSON ? columnsOf(value) : value, count);
  return typeof view === 'string' ? null : view;
}

/** Lines as columns; nothing where one of them is not a row. */
function columnsOf(value: Buffer): Buffer {
  words.names.trim();
  const columns = new LogColumns({ names: words.names.ids, levels: words.levels, services: words.services }, 64);
  for (const row of plainRows(value)) {
    if (typeof row === 'string') return NOTHING;
    addPlainRow(columns, row, words);
  }
  return encodeColumns(columns);
}

const NOTHING = Buffer.alloc(0);

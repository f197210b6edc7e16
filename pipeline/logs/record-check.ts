import type { Fault } from '../bus/records/dead-letter.ts';
import { checkColumns, readColumns } from './columns/column-reader.ts';
import { plainRows } from './columns/plain-rows.ts';
import { timeAt } from './columns/row-reader.ts';
import type { LogRecord } from './record.ts';
import { COLUMNS } from '../rows/native.ts';
import { wrongRows } from '../rows/rows-signal.ts';

/**
 * What the value of a record has against its headers; null for nothing. All of it is looked at: the columns of a record are passed on as
 * they are, between those of others, so one that has other columns or another number of rows than it states would shift its neighbours'.
 */
export function checkLog({ encoding, value, count }: Pick<LogRecord, 'encoding' | 'value' | 'count'>): Fault | null {
  if (count === 0) return value.length === 0 ? null : wrongRows('it has a value, and its header count is 0');
  if (encoding === COLUMNS) {
    const what = checkColumns(value, count);
    return what === null ? null : wrongRows(what);
  }
  let rows = 0;
  for (const row of plainRows(value)) {
    rows += 1;
    if (typeof row === 'string') return wrongRows(`line ${String(rows)} of its value ${row}`);
  }
  return rows === count ? null : wrongRows(`its value has ${String(rows)} rows, and its header count is ${String(count)}`);
}

/** When each entry of a checked record happened, in milliseconds. */
export function entryTimes({ encoding, value, count }: LogRecord): number[] {
  if (encoding === COLUMNS) {
    const view = readColumns(value, count);
    if (typeof view === 'string') throw new Error(`BUG: a checked record cannot be read: ${view}.`);
    return Array.from({ length: count }, (_, row) => milliseconds(timeAt(view, row)));
  }
  return Array.from(plainRows(value), (row) => (typeof row === 'string' ? NaN : milliseconds(row.time)));
}

const milliseconds = (ns: bigint): number => Number(ns / 1_000_000n);

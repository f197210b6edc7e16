import { textOf, type FieldValue, type LogEntry } from '../../pipeline/core/entry.ts';
import { LogsqlLimitError } from './errors.ts';
import { MAX_ROW_BYTES, MAX_VALUE_BYTES, type QueryMemory } from './memory.ts';
import type { Stage } from './types.ts';

const ROW_OVERHEAD = 160;
const FIELD_OVERHEAD = 60;
const TEXT_OVERHEAD = 24;

/** Roughly the bytes that a string takes in memory. */
export const sizeOfText = (text: string): number => TEXT_OVERHEAD + text.length;

/** Roughly the bytes that a row takes in memory. Names are shared by rows. */
export function sizeOfRow(row: LogEntry): number {
  let size = ROW_OVERHEAD;
  for (const value of row.values()) size += FIELD_OVERHEAD + sizeOfText(textOf(value));
  return size;
}

/** What one stage holds of what its query may hold; `who` begins the sentence of the error, as "The sort pipe" does. */
export class Budget {
  readonly #memory: QueryMemory;
  readonly #who: string;
  readonly #advice: string | undefined;
  /** `advice`: what makes it less, for the end of the error. */
  constructor(memory: QueryMemory, who: string, advice?: string) {
    this.#memory = memory;
    this.#who = who;
    this.#advice = advice;
  }
  /** Throws LogsqlLimitError when it is too much. */
  take(rows: number, bytes: number): void {
    this.#memory.hold(this.#who, rows, bytes, this.#advice);
  }
  give(rows: number, bytes: number): void {
    this.#memory.release(rows, bytes);
  }
}

/** The row, unless one of its values or all of them together are too long. Throws LogsqlLimitError. */
export function fitting(row: LogEntry, who: () => string): LogEntry {
  let size = 0;
  for (const value of row.values()) {
    const { length } = typeof value === 'string' ? value : value.text;
    if (length > MAX_VALUE_BYTES) throw tooLong(who(), 'a value', MAX_VALUE_BYTES);
    size += length;
  }
  if (size > MAX_ROW_BYTES) throw tooLong(who(), 'a row', MAX_ROW_BYTES);
  return row;
}

/** The error that is thrown before a string is made that would be too long. */
export const tooLong = (who: string, what: string, most: number): LogsqlLimitError =>
  new LogsqlLimitError(`${who} would make ${what} of more than ${String(most / 1e6)} MB.`);

/** A row of the fields that are not empty. */
export function rowOf(fields: Iterable<readonly [string, FieldValue]>): LogEntry {
  const row: LogEntry = new Map();
  for (const [name, value] of fields) if (value !== '') row.set(name, value);
  return row;
}

/** A key that equal lists of strings share. */
export const keyOf = (values: readonly string[]): string => (values.length === 1 ? (values[0] ?? '') : JSON.stringify(values));

/** A stage that makes one row of each. */
export const mapRows = (change: (row: LogEntry) => LogEntry): Stage => ({ push: (row) => [change(row)], flush: () => [] });
/** A stage that makes rows of each. */
export const spreadRows = (change: (row: LogEntry) => Iterable<LogEntry>): Stage => ({ push: change, flush: () => [] });

/** True for a row that shows something; rows without any value are not printed. */
export function hasValues(row: LogEntry): boolean {
  for (const value of row.values()) if (value !== '') return true;
  return false;
}

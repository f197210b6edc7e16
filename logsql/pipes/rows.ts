import { textOf, type FieldValue, type LogEntry } from '../../pipeline/core/entry.ts';
import { LogsqlLimitError } from '../errors.ts';
import type { Stage, StageLimits } from '../types.ts';

const ROW_OVERHEAD = 120;
const FIELD_OVERHEAD = 40;

/** Roughly the bytes that a row takes in memory. */
export function sizeOfRow(row: LogEntry): number {
  let size = ROW_OVERHEAD;
  for (const [name, value] of row) size += FIELD_OVERHEAD + name.length + textOf(value).length;
  return size;
}

/** Counts what a stage holds, and refuses when it is too much. */
export class Budget {
  readonly #limits: StageLimits;
  readonly #what: string;
  #rows = 0;
  #bytes = 0;
  constructor(limits: StageLimits, what: string) {
    this.#limits = limits;
    this.#what = what;
  }
  take(rows: number, bytes: number): void {
    this.#rows += rows;
    this.#bytes += bytes;
    if (this.#rows > this.#limits.maxRows)
      throw new LogsqlLimitError(
        `${this.#what} would hold more than ${String(this.#limits.maxRows)} rows in memory; narrow the query or its time range.`,
      );
    if (this.#bytes > this.#limits.maxBytes)
      throw new LogsqlLimitError(
        `${this.#what} would take more than ${String(this.#limits.maxBytes)} bytes of memory; narrow the query or its time range.`,
      );
  }
}

/** A row of the fields that are not empty. */
export function rowOf(fields: Iterable<readonly [string, FieldValue]>): LogEntry {
  const row: LogEntry = new Map();
  for (const [name, value] of fields) if (value !== '') row.set(name, value);
  return row;
}

/** A key under which equal lists of texts fall together. */
export const keyOf = (values: readonly string[]): string => (values.length === 1 ? (values[0] ?? '') : JSON.stringify(values));

/** A stage that makes one row of each. */
export const mapRows = (change: (row: LogEntry) => LogEntry): Stage => ({ push: (row) => [change(row)], flush: () => [] });
/** A stage that makes rows of each. */
export const spreadRows = (change: (row: LogEntry) => readonly LogEntry[]): Stage => ({ push: change, flush: () => [] });

import { textOf, type LogEntry } from '../pipeline/core/entry.ts';
import { csvRow } from './csv.ts';
import { parseEntry } from './json-entry.ts';
import type { Zone } from './zone.ts';

/** The columns with which entries begin. */
export const FIRST_COLUMNS = ['_time', 'level', 'service', '_msg'] as const;

/**
 * The columns of all rows: of entries the time, level, service and message, then each other field in the order in which it is first seen; of
 * rows of pipes each field in that order.
 */
export function columnsOf(logs: readonly string[]): string[] {
  const seen = new Set<string>();
  for (const log of logs) for (const name of parseEntry(log).keys()) seen.add(name);
  // entries have a stream; what a pipe returns has the fields that the query names, in its order
  return seen.has('_stream') ? [...new Set([...FIRST_COLUMNS, ...seen])] : [...seen];
}

/** An entry as a row of these columns, its time in the zone. */
export const csvEntry = (entry: LogEntry, columns: readonly string[], zone: Zone): string =>
  csvRow(
    columns.map((column) => {
      const text = textOf(entry.get(column));
      return column === '_time' ? zone.show(text) : text;
    }),
  );

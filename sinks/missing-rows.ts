import type { Range } from '../pipeline/bus/consumer/range.ts';
import { storedRows } from './stored-rows.ts';

/** What identifies a row in a table: its record's position and append time, and its place in it. */
const KEY = 'kafka_off, toUnixTimestamp64Milli(arrived), toUInt32(kafka_idx)';

/**
 * A condition that leaves out rows of a replayed record, or of a range in doubt, that `table` has already; empty where there can be none.
 * `key`: the expressions of the SELECT that identify a row.
 */
export function missingOnly(range: Range, table: string, key = KEY): string {
  const where = storedRows(range, { own: (range.inDoubt ?? null) !== null, replays: true });
  return where === '' ? '' : `(${key}) NOT IN (SELECT ${KEY} FROM ${table} WHERE ${where})`;
}

import type { Range } from '../pipeline/bus/range.ts';

/** What tells a row in a table: its record's position and append time, and its place in it. */
const KEY = 'kafka_off, toUnixTimestamp64Milli(arrived), toUInt32(kafka_idx)';

/**
 * A condition that leaves out rows of a replayed record, or of a range in doubt, that `table` has already; empty where there can be none.
 * `key`: how the SELECT calls what tells a row.
 */
export function missingOnly({ partition, start, end, records, inDoubt = null }: Range, table: string, key = KEY): string {
  const replayed = records.flatMap(({ replayOf }) => (replayOf === null ? [] : [String(replayOf)]));
  const looked = [
    ...(inDoubt === null ? [] : [`kafka_off BETWEEN ${String(start)} AND ${String(end)}`]),
    ...(replayed.length > 0 ? [`kafka_off IN (${replayed.join(',')})`] : []),
  ];
  if (looked.length === 0) return '';
  const where = `kafka_part = ${String(partition)} AND (${looked.join(' OR ')})`;
  return `(${key}) NOT IN (SELECT ${KEY} FROM ${table} WHERE ${where})`;
}

import type { Range } from '../pipeline/bus/range-consumer.ts';

/**
 * The end of a SELECT from `input()` that leaves out rows of a replayed record, or of a range in doubt, that `table` has already; empty
 * where there can be none. A row is known by its record's position and append time, and its place in it.
 */
export function missingOnly({ partition, start, end, records, inDoubt = null }: Range, table: string): string {
  const replayed = records.flatMap(({ replayOf }) => (replayOf === null ? [] : [String(replayOf)]));
  const looked = [
    ...(inDoubt === null ? [] : [`kafka_off BETWEEN ${String(start)} AND ${String(end)}`]),
    ...(replayed.length > 0 ? [`kafka_off IN (${replayed.join(',')})`] : []),
  ];
  if (looked.length === 0) return '';
  const key = 'kafka_off, toUnixTimestamp64Milli(arrived), toUInt32(kafka_idx)';
  const where = `kafka_part = ${String(partition)} AND (${looked.join(' OR ')})`;
  return ` WHERE (${key}) NOT IN (SELECT ${key} FROM ${table} WHERE ${where})`;
}

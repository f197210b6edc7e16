import { unlessFenced } from './insert-fence.ts';
import { missingOnly } from './missing-rows.ts';
import type { Range } from '../pipeline/bus/consumer/range.ts';
import { positionOf } from '../pipeline/bus/records/record.ts';
import type { SignalRecord } from '../pipeline/bus/records/signal-record.ts';

export type InsertStatement = {
  readonly range: Range;
  /** What is written into, and what is looked up for rows that are stored already: the same table, but for a trial. */
  readonly into: string;
  readonly table: string;
  /** The id under which the insert may be fenced. */
  readonly fence?: string | undefined;
  /** The columns of a row in the value, as ClickHouse's `input()` declares them. */
  readonly structure: string;
  /** The columns of the table that are made of those of the row: name and expression. */
  readonly columns: readonly (readonly [string, string])[];
};

/**
 * The statement for a range whose values are lines of JSON, one for each row. What is the same for a whole record (tenant, class, append
 * time, offset) is looked up by the row's number, so that no row is touched here: k is the number of the record's first row. More rows than
 * the records declare fail the statement.
 */
export function insertStatement({ range, into, table, fence, structure, columns }: InsertStatement): string {
  const starts: number[] = [];
  let row = 0;
  for (const { count } of range.records) {
    starts.push(row);
    row += count;
  }
  const list = (values: readonly number[]): string => `[${values.join(',')}]::Array(UInt64)`;
  const perRecord = (of: (record: SignalRecord) => number): string => {
    const values = range.records.map(of);
    const first = values[0] ?? 0;
    return values.every((value) => value === first)
      ? `toUInt64(${String(first)})`
      : `transform(k, ${list(starts)}, ${list(values)}, toUInt64(0))`;
  };
  const all: readonly (readonly [string, string])[] = [
    ['tenant_id', perRecord(({ tenantId }) => tenantId)],
    ['arrived', `fromUnixTimestamp64Milli(toInt64(${perRecord(({ timestamp }) => timestamp)}) AS ms, 'UTC')`],
    ['kafka_part', String(range.partition)],
    ['kafka_off', `${perRecord(positionOf)} AS off`],
    ['kafka_idx', `n - k + throwIf(n >= ${String(row)}, 'A record has more rows than its header count.')`],
    ['retention_days', perRecord(({ retentionDays }) => retentionDays)],
    ...columns,
  ];
  const missing = missingOnly(range, table, 'off, ms, toUInt32(n - k)');
  const conditions = [...(missing === '' ? [] : [missing]), ...(fence === undefined ? [] : [unlessFenced(fence)])];
  return `INSERT INTO ${into} (${all.map(([name]) => name).join(', ')})
SELECT ${all.map(([, expression]) => expression).join(', ')}
FROM (SELECT *, rowNumberInAllBlocks() AS n, roundDown(n, ${list(starts)}) AS k FROM input('${structure}'))${conditions.length === 0 ? '' : `\nWHERE ${conditions.join(' AND ')}`}
FORMAT JSONEachRow`;
}

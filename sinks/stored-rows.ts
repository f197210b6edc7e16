import type { Range } from '../pipeline/bus/consumer/range.ts';
import type { SignalRecord } from '../pipeline/bus/records/signal-record.ts';

/**
 * A condition for the rows that a table may have of a range: of its own records, of those that it replays, or of both; empty where it has
 * none of them. Rows have the append time of their record, and that of a replay is its original's, so the bounds in time leave out no row
 * that is looked for. They keep ClickHouse from reading the parts and granules of other times.
 */
export function storedRows({ partition, start, end, records }: Range, which: { readonly own: boolean; readonly replays: boolean }): string {
  const own = which.own ? records.filter(({ replayOf }) => replayOf === null) : [];
  const replays = which.replays ? records.filter(({ replayOf }) => replayOf !== null) : [];
  const looked = [
    ...(own.length === 0 ? [] : [`kafka_off BETWEEN ${String(start)} AND ${String(end)} AND ${appended(own)}`]),
    ...(replays.length === 0
      ? []
      : [`kafka_off IN (${replays.map(({ replayOf }) => String(replayOf)).join(',')}) AND ${appended(replays)}`]),
  ];
  return looked.length === 0 ? '' : `kafka_part = ${String(partition)} AND (${looked.join(' OR ')})`;
}

/** From the earliest to the latest of the records' append times. */
function appended(records: readonly SignalRecord[]): string {
  const [earliest, latest] = records.reduce(
    ([first, last], { timestamp }) => [Math.min(first, timestamp), Math.max(last, timestamp)],
    [Infinity, -Infinity],
  );
  return `toUnixTimestamp64Milli(arrived) BETWEEN ${String(earliest)} AND ${String(latest)}`;
}

import type { ColumnsView } from '../../logs/columns/column-reader.ts';
import { GroupTable } from '../base/group-table.ts';
import { minuteOf } from '../base/record-groups.ts';

/** Severities are below it: a group's level is its pattern's number in these units, and its severity. */
export const SEVERITY_UNIT = 8;

/**
 * The entries of one record by pattern, stream, minute and severity. Patterns have numbers from 0 on in the order in which they come; a group's
 * level is `number * SEVERITY_UNIT + severity`. Entries without a pattern are passed over. Valid until the next record is counted.
 */
export class RecordPatterns {
  readonly patterns = new GroupTable();
  readonly groups = new GroupTable();
  /** By group: the times of its earliest and its latest entry, milliseconds since 1970, 0 for earlier ones. */
  readonly first: number[] = [];
  readonly last: number[] = [];
  /** By pattern: the row of its first entry here, and the earliest time. */
  readonly firstRow: number[] = [];
  readonly firstTime: number[] = [];

  count({ bytes, count, time, streamId, severity, pattern }: ColumnsView): void {
    const { patterns, groups } = this;
    patterns.clear();
    groups.clear();
    const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let row = 0; row < count; row++) {
      const low = data.getUint32(pattern + 8 * row, true);
      const high = data.getUint32(pattern + 8 * row + 4, true);
      if (low === 0 && high === 0) continue;
      const timeLow = data.getUint32(time + 8 * row, true);
      const timeHigh = data.getInt32(time + 8 * row + 4, true);
      const ms = Math.max(0, millisecondsOf(timeHigh, timeLow));
      const known = patterns.size;
      const number = patterns.at(0, 0, high, low, 0, 0);
      if (number === known) {
        this.firstRow[number] = row;
        this.firstTime[number] = ms;
      } else if (ms < (this.firstTime[number] as number)) this.firstTime[number] = ms;
      const level = number * SEVERITY_UNIT + (bytes[severity + row] as number);
      const streamLow = data.getInt32(streamId + 8 * row, true);
      const streamHigh = data.getInt32(streamId + 8 * row + 4, true);
      this.#add(groups.at(0, 0, streamHigh, streamLow, minuteOf(timeHigh, timeLow), level), ms);
    }
  }

  #add(group: number, ms: number): void {
    const { groups, first, last } = this;
    if (groups.entries(group) === 0) first[group] = last[group] = ms;
    else if (ms < (first[group] as number)) first[group] = ms;
    else if (ms > (last[group] as number)) last[group] = ms;
    groups.add(group, 1, 0);
  }
}

/** Of a time in nanoseconds by its halves; exact, since what is divided has at most 53 bits. */
const millisecondsOf = (high: number, low: number): number => high * 4294 + Math.floor((high * 967_296 + low) / 1e6);

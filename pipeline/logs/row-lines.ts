import { NEWLINE } from '../core/bytes.ts';
import { ROW_START } from './row.ts';
import type { Fault } from '../bus/dead-letter.ts';
import type { SignalRecord } from '../bus/record.ts';

const START = Buffer.from(ROW_START);

/**
 * Whether the value of a record is as many lines as its headers say, each of which begins like a row; null where it is. The rows of a
 * range are told apart by these counts, so a wrong one would give rows to another record, perhaps another tenant's. A row that begins
 * so cannot reach over the end of a line: no JSON string or object that is open there goes on with `{"_time":"`. A line of more than one
 * row is left to ClickHouse, which the statement lets count (`sinks/logs.ts`).
 */
export function rowsFault({ value, count }: Pick<SignalRecord, 'value' | 'count'>): Fault | null {
  let lines = 0;
  for (let at = 0; at < value.length; lines++) {
    if (!startsRow(value, at)) return wrong(`line ${String(lines + 1)} of its value is no row`);
    const end = value.indexOf(NEWLINE, at + START.length);
    if (end < 0) return wrong('its last row is cut off');
    at = end + 1;
  }
  return lines === count ? null : wrong(`its value has ${String(lines)} rows, and its header count says ${String(count)}`);
}

function startsRow(value: Buffer, at: number): boolean {
  for (let i = 0; i < START.length; i++) if (value[at + i] !== START[i]) return false;
  return true;
}

const wrong = (what: string): Fault => ({ reason: 'rows', detail: `The record cannot be read: ${what}.` });

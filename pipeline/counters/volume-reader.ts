import { CheckedColumns, isCount, isTime, readChecked } from './checked-columns.ts';
import { VOLUME_HEADS } from './layout.ts';
import { SCOPE_SEGMENT, SCOPE_UNPUBLISHED, type SegmentKey, type VolumeRow } from './volume-row.ts';

/** A row as it is read: each names its segment. */
export type ReadRow = VolumeRow & SegmentKey;

/**
 * Reads the value of a record, and checks all of it: frames, names and types of the columns, that each has `count` values that can be, and
 * that nothing is left over. So it can be passed on as it is. Returns what is wrong as a string.
 */
export function readVolume(value: Buffer, count: number): ReadRow[] | string {
  return readChecked(value, count, (bytes) => read(new CheckedColumns(VOLUME_HEADS, bytes, count), bytes, count));
}

function read(columns: CheckedColumns, bytes: Buffer, count: number): ReadRow[] {
  const tenantId = columns.numbers('tenant_id', 4);
  const retentionDays = columns.numbers('retention_days', 2);
  const isWithoutTenant = (number: number): boolean => number === SCOPE_SEGMENT || number === SCOPE_UNPUBLISHED;
  const scope = columns.numbers('scope', 1, (number, row) => (tenantId[row] === 0 ? isWithoutTenant(number) : number < SCOPE_SEGMENT));
  const span = columns.numbers('span', 4, (number) => number > 0);
  const time = columns.numbers('time', 8, isTime);
  const streams = columns.fixed('stream_id', 8);
  const level = columns.strings('level');
  const partition = columns.numbers('log_part', 2);
  const segment = columns.numbers('segment', 8, isCount);
  const until = columns.numbers(
    'until',
    8,
    (number, row) => isCount(number) && number >= (segment[row] as number) + (scope[row] === SCOPE_SEGMENT ? 0 : 1),
  );
  const run = columns.numbers('run', 8, isCount);
  const entries = columns.numbers('entries', 8, (number, row) => isCount(number) && (number > 0 || tenantId[row] === 0));
  const sizes = columns.numbers('bytes', 8, isCount);
  columns.end();
  const { starts, ends } = level;
  return Array.from({ length: count }, (_, row) => ({
    tenantId: tenantId[row] as number,
    retentionDays: retentionDays[row] as number,
    scope: scope[row] as ReadRow['scope'],
    span: span[row] as number,
    time: time[row] as number,
    streamLow: bytes.readUInt32LE(streams + 8 * row),
    streamHigh: bytes.readUInt32LE(streams + 8 * row + 4),
    level: bytes.subarray(starts[row], ends[row]),
    partition: partition[row] as number,
    segment: segment[row] as number,
    until: until[row] as number,
    run: run[row] as number,
    entries: entries[row] as number,
    bytes: sizes[row] as number,
  }));
}

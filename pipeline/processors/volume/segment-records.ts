import { counterHeaders, countersSignal } from '../../counters/counters-signal.ts';
import { ROW_BYTES } from '../../counters/layout.ts';
import { encodeVolume } from '../../counters/volume-encoder.ts';
import { SCOPE_SEGMENT, type SegmentKey, type VolumeRow } from '../../counters/volume-row.ts';
import type { AbsoluteRecord } from '../../bus/absolute-record.ts';

/** What a record may have before it is compressed, unless a single row has more. */
const RECORD_BYTES = 256 * 1024;

/** For how many days it is told that a segment was closed, 0 for ever: only the last ones count. */
const TOLD_DAYS: Readonly<Record<number, number>> = { 60: 1, 3600: 30, 86_400: 0 };

/** Where the counting began that a segment is of, and when the segment was closed, by append time (milliseconds). */
export type Closing = { readonly base: number; readonly closedAt: number };

/** The records of a closed segment: its rows, and behind them that it is closed. */
export function segmentRecords(key: SegmentKey, rows: readonly VolumeRow[], closing: Closing): AbsoluteRecord[] {
  const records: AbsoluteRecord[] = [];
  let open: VolumeRow[] = [];
  let size = 0;
  const close = (): void => {
    if (open.length > 0) records.push(recordOf(key, open));
    open = [];
    size = 0;
  };
  for (const row of [...rows, closingRow(key, closing)]) {
    // a level is a text with its length before it
    const more = ROW_BYTES + row.level.length + 5;
    if (size + more > RECORD_BYTES) close();
    open.push(row);
    size += more;
  }
  close();
  return records;
}

const closingRow = ({ span }: SegmentKey, { base, closedAt }: Closing): VolumeRow => ({
  ...{ tenantId: 0, retentionDays: TOLD_DAYS[span] ?? 1, scope: SCOPE_SEGMENT, time: Math.floor(closedAt / 1000) },
  ...{ streamHigh: 0, streamLow: 0, level: NO_LEVEL, entries: base, bytes: 0 },
});

const NO_LEVEL = Buffer.alloc(0);

const recordOf = (key: SegmentKey, rows: readonly VolumeRow[]): AbsoluteRecord => ({
  topic: countersSignal.topic.name,
  partition: key.partition,
  key: null,
  value: encodeVolume(key, rows),
  headers: counterHeaders(rows.length),
});

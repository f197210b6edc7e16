import type { AbsoluteRecord } from '../../bus/producer/absolute-record.ts';
import { volumeLayout, volumeSize } from '../../counters/volume-layout.ts';
import { SCOPE_SEGMENT, type SegmentKey, type VolumeRow } from '../../counters/volume-row.ts';
import { rowsRecords } from '../../rows/rows-records.ts';

/** How many days the row of a segment's closing is kept, 0 for ever: only the last ones count. */
const KEPT_DAYS: Readonly<Record<number, number>> = { 60: 1, 3600: 30, 86_400: 0 };

/** Where the counting began that a segment is of, and when the segment was closed, by append time (milliseconds). */
export type Closing = { readonly base: number; readonly closedAt: number };

/** The records of a closed segment: its rows, and behind them that it is closed. */
export const segmentRecords = (key: SegmentKey, rows: readonly VolumeRow[], closing: Closing): AbsoluteRecord[] =>
  rowsRecords(volumeLayout, [...rows, closingRow(key, closing)], volumeSize, { partition: key.partition, shared: () => key });

const closingRow = ({ span }: SegmentKey, { base, closedAt }: Closing): VolumeRow => ({
  ...{ tenantId: 0, retentionDays: KEPT_DAYS[span] ?? 1, scope: SCOPE_SEGMENT, time: Math.floor(closedAt / 1000) },
  ...{ streamId: 0n, level: NO_LEVEL, entries: base, bytes: 0 },
});

const NO_LEVEL = Buffer.alloc(0);

import { counterHeaders, countersSignal } from '../../counters/counters-signal.ts';
import { cutRows } from '../../counters/cut-rows.ts';
import { ROW_BYTES } from '../../counters/layout.ts';
import { encodeVolume } from '../../counters/volume-encoder.ts';
import { SCOPE_SEGMENT, type SegmentKey, type VolumeRow } from '../../counters/volume-row.ts';
import type { AbsoluteRecord } from '../../bus/producer/absolute-record.ts';

/** How many days the row of a segment's closing is kept, 0 for ever: only the last ones count. */
const KEPT_DAYS: Readonly<Record<number, number>> = { 60: 1, 3600: 30, 86_400: 0 };

/** Where the counting began that a segment is of, and when the segment was closed, by append time (milliseconds). */
export type Closing = { readonly base: number; readonly closedAt: number };

/** The records of a closed segment: its rows, and behind them that it is closed. */
export const segmentRecords = (key: SegmentKey, rows: readonly VolumeRow[], closing: Closing): AbsoluteRecord[] =>
  // a level is a string with its length before it
  cutRows([...rows, closingRow(key, closing)], ({ level }) => ROW_BYTES + level.length + 5).map((together) => ({
    topic: countersSignal.topic.name,
    partition: key.partition,
    key: null,
    value: encodeVolume(key, together),
    headers: counterHeaders(together.length),
  }));

const closingRow = ({ span }: SegmentKey, { base, closedAt }: Closing): VolumeRow => ({
  ...{ tenantId: 0, retentionDays: KEPT_DAYS[span] ?? 1, scope: SCOPE_SEGMENT, time: Math.floor(closedAt / 1000) },
  ...{ streamHigh: 0, streamLow: 0, level: NO_LEVEL, entries: base, bytes: 0 },
});

const NO_LEVEL = Buffer.alloc(0);

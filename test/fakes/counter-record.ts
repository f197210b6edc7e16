import type { SignalRecord } from '../../pipeline/bus/records/signal-record.ts';
import { volumeLayout } from '../../pipeline/counters/volume-layout.ts';
import type { SegmentKey, VolumeRow } from '../../pipeline/counters/volume-row.ts';

/** A row of the volume, but for what is said of it. */
export const volumeRow = (more: Partial<VolumeRow> = {}): VolumeRow => ({
  ...{ tenantId: 1, retentionDays: 0, scope: 1, time: 1_795_003_200, streamId: 2n ** 32n + 2n, level: Buffer.from('info') },
  ...{ entries: 3, bytes: 99 },
  ...more,
});

export const segmentKey = (more: Partial<SegmentKey> = {}): SegmentKey => ({
  partition: 3,
  span: 60,
  segment: 5,
  until: 9,
  run: 0,
  ...more,
});

/** A record of `counters.v1` with these rows. */
export const counterRecord = (rows: readonly VolumeRow[], more: Partial<SignalRecord> = {}): SignalRecord => ({
  ...{ partition: 3, offset: 7, timestamp: 1_795_000_000_000, tenantId: 0, retentionDays: 0, count: rows.length, bytes: 0 },
  ...{
    encoding: 'columns',
    value: rows.length === 0 ? Buffer.alloc(0) : volumeLayout.encode(rows, segmentKey()),
    replayOf: null,
    fault: null,
  },
  original: { key: null, value: null, headers: {}, timestamp: '0' },
  ...more,
});

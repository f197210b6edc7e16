import { counterHeaders, countersSignal } from '../../counters/counters-signal.ts';
import { cutRows } from '../../counters/cut-rows.ts';
import { ROW_BYTES } from '../../counters/layout.ts';
import { encodeVolume } from '../../counters/volume-encoder.ts';
import type { SegmentKey, VolumeRow } from '../../counters/volume-row.ts';
import type { AbsoluteRecord } from '../../bus/absolute-record.ts';

/** The records of a closed segment. */
export const segmentRecords = (key: SegmentKey, rows: Iterable<VolumeRow>): AbsoluteRecord[] =>
  // a level is a text with its length before it
  cutRows(rows, ({ level }) => ROW_BYTES + level.length + 5).map((together) => ({
    topic: countersSignal.topic.name,
    partition: key.partition,
    key: null,
    value: encodeVolume(key, together),
    headers: counterHeaders(together.length),
  }));

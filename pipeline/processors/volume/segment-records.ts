import { counterHeaders, countersSignal } from '../../counters/counters-signal.ts';
import { ROW_BYTES } from '../../counters/layout.ts';
import { encodeVolume } from '../../counters/volume-encoder.ts';
import type { SegmentKey, VolumeRow } from '../../counters/volume-row.ts';
import type { AbsoluteRecord } from '../../bus/absolute-record.ts';

/** What a record may have before it is compressed, unless a single row has more. */
const RECORD_BYTES = 256 * 1024;

/** The records of a closed segment. */
export function segmentRecords(key: SegmentKey, rows: Iterable<VolumeRow>): AbsoluteRecord[] {
  const records: AbsoluteRecord[] = [];
  let open: VolumeRow[] = [];
  let size = 0;
  const close = (): void => {
    if (open.length > 0) records.push(recordOf(key, open));
    open = [];
    size = 0;
  };
  for (const row of rows) {
    // a level is a text with its length before it
    const more = ROW_BYTES + row.level.length + 5;
    if (size + more > RECORD_BYTES) close();
    open.push(row);
    size += more;
  }
  close();
  return records;
}

const recordOf = (key: SegmentKey, rows: readonly VolumeRow[]): AbsoluteRecord => ({
  topic: countersSignal.topic.name,
  partition: key.partition,
  key: null,
  value: encodeVolume(key, rows),
  headers: counterHeaders(rows.length),
});

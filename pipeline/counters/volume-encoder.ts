import { framesOf, type FrameWriter } from '../logs/columns/frames.ts';
import { varint } from '../logs/columns/layout.ts';
import { VOLUME_HEADS, type VolumeColumn } from './layout.ts';
import type { SegmentKey, VolumeRow } from './volume-row.ts';

const HALF = 4_294_967_296;

/** The value of a record with these rows of a segment. */
export const encodeVolume = ({ partition, span, segment, until }: SegmentKey, rows: readonly VolumeRow[]): Buffer =>
  framesOf((to) => {
    const numbers = (column: VolumeColumn, width: number, of: (row: VolumeRow) => number): void => {
      to.put(VOLUME_HEADS[column]);
      putNumbers(to, rows, width, of);
    };
    numbers('tenant_id', 4, ({ tenantId }) => tenantId);
    numbers('retention_days', 2, ({ retentionDays }) => retentionDays);
    numbers('scope', 1, ({ scope }) => scope);
    numbers('span', 4, () => span);
    numbers('time', 8, ({ time }) => time);
    to.put(VOLUME_HEADS.stream_id);
    putStreams(to, rows);
    to.put(VOLUME_HEADS.level);
    for (const { level } of rows) {
      to.put(varint(level.length));
      to.put(level);
    }
    numbers('log_part', 2, () => partition);
    numbers('segment', 8, () => segment);
    numbers('until', 8, () => until);
    numbers('entries', 8, ({ entries }) => entries);
    numbers('bytes', 8, ({ bytes }) => bytes);
  });

/** Integers below 2^53, little-endian; those of eight bytes are signed. */
function putNumbers(to: FrameWriter, rows: readonly VolumeRow[], width: number, of: (row: VolumeRow) => number): void {
  const bytes = Buffer.alloc(rows.length * width);
  let at = 0;
  for (const row of rows) {
    const number = of(row);
    if (width === 8) {
      bytes.writeInt32LE(Math.floor(number / HALF), at + 4);
      bytes.writeUInt32LE(number - Math.floor(number / HALF) * HALF, at);
    } else bytes.writeUIntLE(number, at, width);
    at += width;
  }
  to.put(bytes);
}

function putStreams(to: FrameWriter, rows: readonly VolumeRow[]): void {
  const bytes = Buffer.alloc(rows.length * 8);
  let at = 0;
  for (const { streamHigh, streamLow } of rows) {
    bytes.writeUInt32LE(streamLow, at);
    bytes.writeUInt32LE(streamHigh, at + 4);
    at += 8;
  }
  to.put(bytes);
}

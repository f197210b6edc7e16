/** Remote write 1.0 of series in memory: to servers that are compared with ours. */
import type { RawSeries } from '../../../promql/base/series.ts';

const varint = (value: number): number[] => {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return [...bytes, rest];
};
const field = (tag: number, bytes: Uint8Array): Buffer => Buffer.concat([Buffer.from([tag, ...varint(bytes.length)]), bytes]);

function seriesBytes({ labels, timestamps, values }: RawSeries): Buffer {
  const pairs = labels
    .pairs()
    .map(([name, value]) => field(0x0a, Buffer.concat([field(0x0a, Buffer.from(name)), field(0x12, Buffer.from(value))])));
  const bits = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  const samples = Array.from(timestamps, (time, at) =>
    field(0x12, Buffer.concat([Buffer.from([0x09]), bits.subarray(8 * at, 8 * at + 8), Buffer.from([0x10, ...varint(time)])])),
  );
  return Buffer.concat([...pairs, ...samples]);
}

/** The message of these series, each with all of its samples. */
export const writeRequest = (series: readonly RawSeries[]): Buffer => Buffer.concat(series.map((one) => field(0x0a, seriesBytes(one))));

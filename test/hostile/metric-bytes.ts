import { lengthDelimited } from './bytes.ts';

/** A Sample of remote write 1.0 in its series, of 18 bytes. */
export function sampleBytes(value: number, time: number): Buffer {
  const bytes = Buffer.alloc(18);
  bytes.set([0x12, 16, 0x09]);
  bytes.writeDoubleLE(value, 3);
  bytes[11] = 0x10;
  let rest = time;
  for (let at = 12; at < 17; at++) {
    bytes[at] = (rest % 128) | 128;
    rest = Math.floor(rest / 128);
  }
  bytes[17] = rest;
  return bytes;
}

/** A TimeSeries, with its tag: labels, a sample of 1 at each time, and further fields. */
export function seriesBytes(
  labels: Readonly<Record<string, string>>,
  times: readonly number[] = [Date.now()],
  more: Buffer = Buffer.alloc(0),
): Buffer {
  const pairs = Object.entries(labels).map(([name, value]) =>
    lengthDelimited(0x0a, Buffer.concat([lengthDelimited(0x0a, Buffer.from(name)), lengthDelimited(0x12, Buffer.from(value))])),
  );
  return lengthDelimited(0x0a, Buffer.concat([...pairs, ...times.map((time) => sampleBytes(1, time)), more]));
}

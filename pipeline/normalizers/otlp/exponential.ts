import { HISTOGRAM } from '../../samples/histogram.ts';
import { fixed64Tag, lengthTag, varintTag } from '../../wire/protobuf.ts';
import type { Point, PointBuckets } from './metric-point.ts';

/** Scales that Prometheus' schemas have: finer ones are merged. */
const [LEAST_SCALE, MOST_SCALE] = [-4, 8];
/** What Prometheus takes for the width of the zero bucket where a point has none. */
const ZERO_THRESHOLD = 1e-128;
/** Buckets of a side; what a row may have would be longer anyway. */
const MAX_BUCKETS = 20_000;

/**
 * An exponential histogram as the payload of a native one: buckets begin one index later there, their counts are differences, and scales above 8 are
 * merged down. A string: why it cannot be one.
 */
export function exponentialPayload(point: Point): Buffer | string {
  const { scale, count, zeroCount, zeroThreshold } = point;
  if (scale < LEAST_SCALE) return `an exponential histogram of the scale ${String(scale)}; the least is ${String(LEAST_SCALE)}`;
  if (point.positive.counts.length + point.negative.counts.length > MAX_BUCKETS)
    return `a histogram of more than ${String(MAX_BUCKETS)} buckets`;
  const shift = Math.max(0, scale - MOST_SCALE);
  const to: number[] = [];
  putVarint(to, varintTag(HISTOGRAM.countInt), count);
  putVarint(to, varintTag(HISTOGRAM.schema), zigzag(scale - shift));
  putDouble(to, fixed64Tag(HISTOGRAM.zeroThreshold), zeroThreshold === 0 ? ZERO_THRESHOLD : zeroThreshold);
  putVarint(to, varintTag(HISTOGRAM.zeroCountInt), zeroCount);
  putSide(to, merged(point.negative, shift), HISTOGRAM.negativeSpans, HISTOGRAM.negativeDeltas);
  putSide(to, merged(point.positive, shift), HISTOGRAM.positiveSpans, HISTOGRAM.positiveDeltas);
  return Buffer.from(to);
}

/** Buckets of a coarser scale, indexed as Prometheus has them. */
function merged({ offset, counts }: PointBuckets, shift: number): PointBuckets {
  if (counts.length === 0) return { offset: 0, counts };
  const factor = 2 ** shift;
  const first = Math.floor(offset / factor);
  const coarse: number[] = [];
  for (const [index, count] of counts.entries()) {
    const bucket = Math.floor((offset + index) / factor) - first;
    coarse[bucket] = (coarse[bucket] ?? 0) + count;
  }
  return { offset: first + 1, counts: coarse };
}

function putSide(to: number[], { offset, counts }: PointBuckets, spans: number, deltas: number): void {
  if (counts.length === 0) return;
  const span: number[] = [];
  putVarint(span, varintTag(1), zigzag(offset));
  putVarint(span, varintTag(2), counts.length);
  putMessage(to, lengthTag(spans), span);
  const differences: number[] = [];
  let before = 0;
  for (const count of counts) {
    varint(differences, zigzag(count - before));
    before = count;
  }
  putMessage(to, lengthTag(deltas), differences);
}

const zigzag = (value: number): number => (value >= 0 ? 2 * value : -2 * value - 1);

function varint(to: number[], value: number): void {
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) to.push((rest % 128) | 128);
  to.push(rest);
}

function putVarint(to: number[], tag: number, value: number): void {
  varint(to, tag);
  varint(to, value);
}

function putMessage(to: number[], tag: number, message: readonly number[]): void {
  putVarint(to, tag, message.length);
  for (const byte of message) to.push(byte);
}

function putDouble(to: number[], tag: number, value: number): void {
  varint(to, tag);
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  for (const byte of bytes) to.push(byte);
}

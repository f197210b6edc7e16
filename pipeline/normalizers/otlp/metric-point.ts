/** An attribute: its key, and its value as OTLP's JSON has it (`{"stringValue":"a"}`). */
export type Attribute = readonly [key: string, value: unknown];

/** An exemplar: nanoseconds, the bits of its value, ids in hexadecimal. */
export type PointExemplar = {
  readonly time: bigint;
  readonly bits: bigint;
  readonly traceId: string;
  readonly spanId: string;
  readonly attributes: readonly Attribute[];
};

/** Counts of the buckets from an offset on. */
export type PointBuckets = { readonly offset: number; readonly counts: readonly number[] };

/** A data point of any kind: what its kind does not have is empty. Times are nanoseconds, `bits` those of doubles. */
export type Point = {
  attributes: Attribute[];
  start: bigint;
  time: bigint;
  flags: number;
  exemplars: PointExemplar[];
  /** Of numbers. */
  bits: bigint | null;
  /** Of histograms and summaries. */
  count: number;
  sum: bigint | null;
  /** Of histograms: counts of buckets, not cumulative, and their upper bounds. */
  counts: number[];
  bounds: number[];
  /** Of exponential histograms. */
  scale: number;
  zeroCount: number;
  zeroThreshold: number;
  positive: PointBuckets;
  negative: PointBuckets;
  /** Of summaries: quantile, and the bits of its value. */
  quantiles: [number, bigint][];
  /** Why it cannot be taken, found as it was read; empty where it can. */
  problem: string;
};

export const newPoint = (): Point => ({
  ...{ attributes: [], start: 0n, time: 0n, flags: 0, exemplars: [], bits: null, count: 0, sum: null, counts: [], bounds: [] },
  ...{ scale: 0, zeroCount: 0, zeroThreshold: 0, positive: NO_BUCKETS, negative: NO_BUCKETS, quantiles: [], problem: '' },
});

const NO_BUCKETS: PointBuckets = { offset: 0, counts: [] };

/** The kinds of metrics that OTLP has, by their members. */
export const METRIC_KINDS = ['gauge', 'sum', 'histogram', 'exponentialHistogram', 'summary'] as const;
export type MetricKind = (typeof METRIC_KINDS)[number];

/** What the points of a metric share. */
export type PointMetric = {
  readonly name: string;
  readonly description: string;
  readonly unit: string;
  readonly kind: MetricKind;
  readonly isDelta: boolean;
  readonly isMonotonic: boolean;
};

const double = new Float64Array(1);
const bits = new BigUint64Array(double.buffer);

/** The bits of a number. */
export function bitsOf(value: number): bigint {
  double[0] = value;
  return bits[0] as bigint;
}

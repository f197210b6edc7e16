/** An attribute: its key, and its value as OTLP's JSON has it (`{"stringValue":"a"}`). */
export type Attribute = readonly [key: string, value: unknown];

/** The bits of a double in two words; `isThere`: whether there is one at all. */
export type Bits = { isThere: boolean; low: number; high: number };

/** An exemplar: milliseconds, ids in hexadecimal. */
export type PointExemplar = {
  readonly time: number;
  readonly bits: Bits;
  readonly traceId: string;
  readonly spanId: string;
  readonly attributes: readonly Attribute[];
};

/** Counts of the buckets from an offset on. */
export type PointBuckets = { readonly offset: number; readonly counts: readonly number[] };

/** Attributes as they lie in a body: few points have others than one before them, so they are read where their series is not known. */
export type PointAttributes = {
  /** Bytes that no other attributes of the same encoding have: `bytes[0..length)`; a length of -1: there are none. */
  readonly bytes: Buffer;
  readonly length: number;
  /** Reads them; to be called before the next point is read. Throws HttpError 400 where they are corrupt. */
  read(): readonly Attribute[];
};

/** A data point of any kind: what its kind does not have is empty. Times are milliseconds. */
export class Point {
  start = 0;
  time = 0;
  flags = 0;
  exemplars: PointExemplar[] = [];
  /** Of numbers. */
  readonly value: Bits = { isThere: false, low: 0, high: 0 };
  /** Of histograms and summaries. */
  count = 0;
  readonly sum: Bits = { isThere: false, low: 0, high: 0 };
  /** Of histograms: counts of buckets, not cumulative, and their upper bounds. */
  counts: number[] = [];
  bounds: number[] = [];
  /** Of exponential histograms. */
  scale = 0;
  zeroCount = 0;
  zeroThreshold = 0;
  positive: PointBuckets = NO_BUCKETS;
  negative: PointBuckets = NO_BUCKETS;
  /** Of summaries: quantile, and its value. */
  quantiles: [number, Bits][] = [];
  /** Why it cannot be taken, found as it was read; empty where it can. */
  problem = '';

  /** One object serves all points of a body. */
  clear(): void {
    this.start = 0;
    this.time = 0;
    this.flags = 0;
    if (this.exemplars.length > 0) this.exemplars = [];
    this.value.isThere = false;
    this.count = 0;
    this.sum.isThere = false;
    this.counts.length = 0;
    this.bounds.length = 0;
    this.scale = 0;
    this.zeroCount = 0;
    this.zeroThreshold = 0;
    this.positive = NO_BUCKETS;
    this.negative = NO_BUCKETS;
    this.quantiles.length = 0;
    this.problem = '';
  }
}

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
const words = new Uint32Array(double.buffer);

/** Sets the bits of a number. */
export function setBits(bits: Bits, value: number): void {
  double[0] = value;
  bits.isThere = true;
  bits.low = words[0] as number;
  bits.high = words[1] as number;
}

/** The bits of a number. */
export function bitsOf(value: number): Bits {
  const bits = { isThere: true, low: 0, high: 0 };
  setBits(bits, value);
  return bits;
}

/** The number of these bits. */
export function numberOf({ low, high }: Bits): number {
  words[0] = low;
  words[1] = high;
  return double[0] as number;
}

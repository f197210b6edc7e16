/** The bounds of the buckets of a native histogram, and all of its buckets in order. */
import { CUSTOM_SCHEMA, isCustom, type Buckets, type Histogram } from './histogram.ts';

/** A bucket: which values it counts, and how many there are. */
export type Bucket = {
  readonly lower: number;
  readonly upper: number;
  readonly lowerInclusive: boolean;
  readonly upperInclusive: boolean;
  readonly count: number;
};

/** The upper bound of a bucket of positive values. */
export function upperBound(index: number, schema: number, custom: readonly number[]): number {
  if (schema === CUSTOM_SCHEMA) return index < 0 ? -Infinity : (custom[index] ?? Infinity);
  if (schema <= 0) return powerOfTwo(index * 2 ** -schema);
  const parts = 2 ** schema;
  const whole = Math.floor(index / parts);
  const fraction = index - whole * parts;
  return fraction === 0 ? powerOfTwo(whole) : 2 ** (fraction / parts) * 2 ** whole;
}

/** The highest bucket of all ends with the greatest number, not beyond it. */
const powerOfTwo = (exponent: number): number => (exponent === 1024 ? Number.MAX_VALUE : 2 ** exponent);

/** Where a bucket lies in a schema of fewer buckets. */
const reducedIndex = (index: number, from: number, to: number): number => Math.ceil(index / 2 ** (from - to));

/** Buckets of one sign in a schema of fewer buckets. */
function reduceBuckets({ indexes, counts }: Buckets, from: number, to: number): Buckets {
  if (from === to) return { indexes, counts };
  const out: { indexes: number[]; counts: number[] } = { indexes: [], counts: [] };
  indexes.forEach((index, at) => {
    const reduced = reducedIndex(index, from, to);
    const last = out.indexes.length - 1;
    if (out.indexes[last] === reduced) out.counts[last] = (out.counts[last] ?? 0) + (counts[at] ?? 0);
    else {
      out.indexes.push(reduced);
      out.counts.push(counts[at] ?? 0);
    }
  });
  return out;
}

/** The same histogram with fewer buckets. */
export function toSchema(histogram: Histogram, schema: number): Histogram {
  if (schema === histogram.schema) return histogram;
  return {
    ...histogram,
    schema,
    positive: reduceBuckets(histogram.positive, histogram.schema, schema),
    negative: reduceBuckets(histogram.negative, histogram.schema, schema),
  };
}

/** Buckets of positive values, lowest first. */
export function positiveBuckets({ positive, schema, custom }: Histogram): Bucket[] {
  return positive.indexes.map((index, at) => ({
    lower: upperBound(index - 1, schema, custom),
    upper: upperBound(index, schema, custom),
    lowerInclusive: schema === CUSTOM_SCHEMA && index === 0,
    upperInclusive: true,
    count: positive.counts[at] ?? 0,
  }));
}

/** Buckets of negative values, those nearest to zero first. */
export function negativeBuckets({ negative, schema, custom }: Histogram): Bucket[] {
  return negative.indexes.map((index, at) => ({
    lower: -upperBound(index, schema, custom),
    upper: -upperBound(index - 1, schema, custom),
    lowerInclusive: true,
    upperInclusive: false,
    count: negative.counts[at] ?? 0,
  }));
}

/** The bucket around zero. */
export const zeroBucket = ({ zeroThreshold, zeroCount }: Histogram): Bucket => ({
  lower: -zeroThreshold,
  upper: zeroThreshold,
  lowerInclusive: true,
  upperInclusive: true,
  count: zeroCount,
});

/** All buckets, lowest values first; that around zero only where it counts something. */
export function allBuckets(histogram: Histogram): Bucket[] {
  const zero = isCustom(histogram) || histogram.zeroCount === 0 ? [] : [zeroBucket(histogram)];
  return [...negativeBuckets(histogram).reverse(), ...zero, ...positiveBuckets(histogram)];
}

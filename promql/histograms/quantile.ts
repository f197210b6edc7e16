/** Quantiles and fractions of native histograms: straight lines within custom and zero buckets, logarithms within the others. */
import { allBuckets, type Bucket } from './buckets.ts';
import { isCustom, type Histogram } from './histogram.ts';

/** A number, and what has to be noted of observations that are no numbers. */
export type Estimate = { readonly value: number; readonly note?: 'nan-result' | 'nan-skew' | 'nan-excluded' };

/** Within a bucket around zero: values of one sign alone begin or end at zero. */
function ofOneSign(bucket: Bucket, { positive, negative }: Histogram): Bucket {
  if (negative.counts.length === 0 && positive.counts.length > 0) return { ...bucket, lower: 0 };
  if (positive.counts.length === 0 && negative.counts.length > 0) return { ...bucket, upper: 0 };
  return bucket;
}

/** The quantile of a histogram's observations. */
export function histogramQuantile(quantile: number, histogram: Histogram): Estimate {
  if (quantile < 0) return { value: -Infinity };
  if (quantile > 1) return { value: Infinity };
  if (histogram.count === 0 || Number.isNaN(quantile)) return { value: NaN };
  const hasNaN = Number.isNaN(histogram.sum);
  const isForward = hasNaN || quantile < 0.5;
  const buckets = isForward ? allBuckets(histogram) : allBuckets(histogram).reverse();
  let rank = (isForward ? quantile : 1 - quantile) * histogram.count;
  let count = 0;
  let at = -1;
  for (const [place, { count: own }] of buckets.entries()) {
    at = place;
    if (own === 0) continue;
    count += own;
    if (count >= rank) break;
  }
  let bucket = buckets[at] ?? { lower: 0, upper: 0, lowerInclusive: false, upperInclusive: false, count: 0 };
  const isOwnBounds = isCustom(histogram);
  if (!isOwnBounds && bucket.lower < 0 && bucket.upper > 0) bucket = ofOneSign(bucket, histogram);
  else if (isOwnBounds && bucket.lower === -Infinity) {
    if (bucket.upper <= 0) return { value: bucket.upper };
    bucket = { ...bucket, lower: 0 };
  } else if (isOwnBounds && bucket.upper === Infinity) return { value: bucket.lower };
  count = Math.min(count, histogram.count);
  if (count < rank) return hasNaN ? { value: NaN, note: 'nan-result' } : { value: bucket.upper };
  rank = isForward ? rank - (count - bucket.count) : count - rank;
  const rest = buckets.slice(at + 1).reduce((sum, next) => sum + next.count, count);
  const note = hasNaN && rest < histogram.count ? ({ note: 'nan-skew' } as const) : {};
  return { value: within(bucket, rank / bucket.count, isOwnBounds), ...note };
}

/** The value at a fraction of a bucket. */
function within({ lower, upper }: Bucket, fraction: number, isLinear: boolean): number {
  if (isLinear || (lower <= 0 && upper >= 0)) return lower + (upper - lower) * fraction;
  const [from, to] = [Math.log2(Math.abs(lower)), Math.log2(Math.abs(upper))];
  return lower > 0 ? 2 ** (from + (to - from) * fraction) : -(2 ** (to + (from - to) * (1 - fraction)));
}

/** How many observations lie up to a value within a bucket, as a fraction of the bucket. */
export function fractionOf(value: number, { lower, upper }: Pick<Bucket, 'lower' | 'upper'>, isLinear: boolean): number {
  if (isLinear) return (value - lower) / (upper - lower);
  const [from, to, own] = [lower, upper, value].map((bound) => Math.log2(Math.abs(bound))) as [number, number, number];
  return value > 0 ? (own - from) / (to - from) : 1 - (own - to) / (from - to);
}

/** The share of the observations between two values. */
export function histogramFraction(lower: number, upper: number, histogram: Histogram): Estimate {
  if (histogram.count === 0 || Number.isNaN(lower) || Number.isNaN(upper)) return { value: NaN };
  if (lower >= upper) return { value: 0 };
  const isOwnBounds = isCustom(histogram);
  const buckets = allBuckets(histogram);
  const rankOf = (value: number): number | undefined => {
    let rank = 0;
    for (const found of buckets) {
      const isZero = found.lower <= 0 && found.upper >= 0;
      const bucket = isZero ? ofOneSign(found, histogram) : found;
      if (bucket.lower >= value) return rank;
      if (bucket.upper > value) {
        if (!isOwnBounds && !isZero) return rank + bucket.count * fractionOf(value, bucket, false);
        return bucket.lower === -Infinity ? bucket.count : rank + (bucket.count * (value - bucket.lower)) / (bucket.upper - bucket.lower);
      }
      rank += bucket.count;
    }
    return undefined;
  };
  const hasNaN = Number.isNaN(histogram.sum);
  const counted = hasNaN ? buckets.reduce((sum, { count }) => sum + count, 0) : histogram.count;
  const [from = counted, to = counted] = [rankOf(lower), rankOf(upper)];
  const value = (Math.min(to, counted) - Math.min(from, counted)) / histogram.count;
  return hasNaN && counted < histogram.count ? { value, note: 'nan-excluded' } : { value };
}

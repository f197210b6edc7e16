/** `histogram </ number` and `histogram >/ number`: a histogram without the observations above or below a value. */
import { negativeBuckets, positiveBuckets, zeroBucket, type Bucket } from './buckets.ts';
import { compact, isCustom, type Buckets, type Histogram } from './histogram.ts';
import { fractionOf } from './quantile.ts';

/** Which observations stay. */
export type Side = 'below' | 'above';

/** What of a bucket stays, and the value that each of those observations is taken for. */
type Part = { readonly kept: number; readonly at: number };

const NOTHING: Part = { kept: 0, at: 0 };

/** The middle of a bucket or of a part of one. */
function middle(lower: number, upper: number, isLinear: boolean): number {
  if (isLinear) return (lower + upper) / 2;
  const mean = Math.sqrt(lower * upper);
  return lower < 0 ? -mean : mean;
}

/** A bucket with two ends: cut where the value lies. */
function cut({ lower, upper, count }: Bucket, value: number, side: Side, isLinear: boolean): Part {
  const isBelow = side === 'below';
  if (isBelow ? value >= upper : value <= lower) return { kept: count, at: middle(lower, upper, isLinear) };
  if (isBelow ? value <= lower : value >= upper) return NOTHING;
  const below = count * fractionOf(value, { lower, upper }, isLinear);
  return isBelow ? { kept: below, at: middle(lower, value, isLinear) } : { kept: count - below, at: middle(value, upper, isLinear) };
}

/** A custom bucket without a lower end: it begins at zero where it ends above, and is not cut where that cannot be. */
function cutFirst(bucket: Bucket, value: number, side: Side): Part {
  const { upper, count } = bucket;
  if (value === (side === 'below' ? Infinity : -Infinity))
    return { kept: count, at: upper > 0 && upper !== Infinity ? upper / 2 : Math.min(upper, 0) };
  if (value === -Infinity || upper === Infinity) return NOTHING;
  if (upper > 0) return value >= 0 ? cut({ ...bucket, lower: 0 }, value, side, true) : NOTHING;
  return side === 'below' ? { kept: count, at: Math.min(value, upper) } : NOTHING;
}

/** A custom bucket without an upper end: its observations are at its lower end, or at the value that they are above. */
function cutLast({ lower, count }: Bucket, value: number, side: Side): Part {
  if (side === 'below') return value === Infinity ? { kept: count, at: lower } : NOTHING;
  return value === Infinity ? NOTHING : { kept: count, at: Math.max(lower, value) };
}

function partOf(bucket: Bucket, value: number, side: Side, isLinear: boolean): Part {
  if (bucket.count === 0) return NOTHING;
  if (bucket.lower === -Infinity) return cutFirst(bucket, value, side);
  return bucket.upper === Infinity ? cutLast(bucket, value, side) : cut(bucket, value, side, isLinear);
}

/** The bucket around zero, on one side of it alone where all others are. */
function zeroPart(histogram: Histogram, value: number, side: Side): Part {
  const bucket = zeroBucket(histogram);
  const isOf = ({ counts }: Buckets): boolean => counts.some((count) => count !== 0);
  const [isPositive, isNegative] = [isOf(histogram.positive), isOf(histogram.negative)];
  const lower = isPositive && !isNegative ? 0 : bucket.lower;
  const upper = isNegative && !isPositive ? 0 : bucket.upper;
  return bucket.count === 0 ? NOTHING : cut({ ...bucket, lower, upper }, value, side, true);
}

/** The histogram of the observations that stay. Where some go, its sum is an estimate. */
export function trimHistogram(histogram: Histogram, value: number, side: Side): Histogram {
  const isLinear = isCustom(histogram);
  const parts = (buckets: readonly Bucket[]): readonly Part[] => buckets.map((bucket) => partOf(bucket, value, side, isLinear));
  const positive = parts(positiveBuckets(histogram));
  const negative = parts(negativeBuckets(histogram));
  const zero = zeroPart(histogram, value, side);
  const all = [...positive, ...negative, zero];
  const whole = [...histogram.positive.counts, ...histogram.negative.counts, histogram.zeroCount];
  if (all.every(({ kept }, at) => kept === whole[at])) return compact(histogram);
  const counts = (buckets: Buckets, own: readonly Part[]): Buckets => ({ indexes: buckets.indexes, counts: own.map(({ kept }) => kept) });
  const count = all.reduce((total, { kept }) => total + kept, 0);
  const sum = all.reduce((total, { kept, at }) => total + (kept === 0 ? 0 : kept * at), 0);
  return compact({
    ...histogram,
    positive: counts(histogram.positive, positive),
    negative: counts(histogram.negative, negative),
    zeroCount: zero.kept,
    count,
    sum,
  });
}

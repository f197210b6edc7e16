/** Sums and differences of native histograms, with what has to be reconciled before: schemas, zero buckets, custom bounds. */
import { negativeBuckets, positiveBuckets, toSchema, upperBound } from './buckets.ts';
import { CUSTOM_SCHEMA, isCustom, sameBounds, type Buckets, type Histogram, type ResetHint } from './histogram.ts';

/** Both sides in one layout. */
type Reconciled = { readonly left: Histogram; readonly right: Histogram; readonly isReconciled: boolean };

/** What an operation gives; null where exponential and custom buckets meet. */
export type Combined = {
  readonly histogram: Histogram;
  /** One side is known to be reset, and the other not to be. */
  readonly isCollision: boolean;
  /** Custom bounds differed: only those that both have are left. */
  readonly isReconciled: boolean;
};

/** The sum of two histograms. */
export const addHistograms = (left: Histogram, right: Histogram): Combined | null => combine(left, right, (a, b) => a + b);

/** The difference of two histograms. */
export const subtractHistograms = (left: Histogram, right: Histogram): Combined | null => combine(left, right, (a, b) => a - b);

function combine(left: Histogram, right: Histogram, operation: (a: number, b: number) => number): Combined | null {
  const both = reconcile(left, right);
  if (both === null) return null;
  const { left: one, right: other, isReconciled } = both;
  const histogram: Histogram = {
    ...one,
    zeroCount: operation(one.zeroCount, other.zeroCount),
    count: operation(one.count, other.count),
    sum: operation(one.sum, other.sum),
    positive: mergeBuckets(one.positive, other.positive, operation),
    negative: mergeBuckets(one.negative, other.negative, operation),
    hint: combinedHint(left.hint, right.hint),
  };
  return { histogram, isCollision: isCollision(left.hint, right.hint), isReconciled };
}

const isCollision = (a: ResetHint, b: ResetHint): boolean => (a === 'reset' && b === 'not_reset') || (a === 'not_reset' && b === 'reset');

function combinedHint(a: ResetHint, b: ResetHint): ResetHint {
  if (a === b) return a;
  return a === 'gauge' || b === 'gauge' ? 'gauge' : 'unknown';
}

/** The histograms with one schema, one width of the zero bucket and one list of bounds. Null where that cannot be. */
export function reconcile(left: Histogram, right: Histogram): Reconciled | null {
  if (isCustom(left) !== isCustom(right)) return null;
  if (isCustom(left)) {
    if (sameBounds(left, right)) return { left, right, isReconciled: false };
    const bounds = left.custom.filter((bound) => right.custom.includes(bound));
    return { left: toBounds(left, bounds), right: toBounds(right, bounds), isReconciled: true };
  }
  const [one, other] = reconcileZero(left, right);
  const schema = Math.min(one.schema, other.schema);
  return { left: toSchema(one, schema), right: toSchema(other, schema), isReconciled: false };
}

/** A histogram with fewer custom bounds, all of them its own. */
function toBounds(histogram: Histogram, bounds: readonly number[]): Histogram {
  const counts = new Map<number, number>();
  histogram.positive.indexes.forEach((index, at) => {
    const upper = upperBound(index, CUSTOM_SCHEMA, histogram.custom);
    const found = bounds.findIndex((bound) => bound >= upper);
    const target = found < 0 ? bounds.length : found;
    counts.set(target, (counts.get(target) ?? 0) + (histogram.positive.counts[at] ?? 0));
  });
  return { ...histogram, custom: bounds, positive: { indexes: [...counts.keys()], counts: [...counts.values()] } };
}

/** Widens zero buckets until they have one width. */
function reconcileZero(left: Histogram, right: Histogram): readonly [Histogram, Histogram] {
  let [one, other] = [left, right];
  while (one.zeroThreshold !== other.zeroThreshold) {
    if (one.zeroThreshold > other.zeroThreshold) other = widenZero(other, one.zeroThreshold);
    else one = widenZero(one, other.zeroThreshold);
  }
  return [one, other];
}

/** With a zero bucket that is as wide as asked, or wider where a bucket in use lies across its end. */
function widenZero(histogram: Histogram, threshold: number): Histogram {
  const wanted = widened(histogram, threshold);
  const positive = positiveBuckets(histogram);
  const negative = negativeBuckets(histogram);
  const beyond = (buckets: Buckets, isBeyond: (at: number) => boolean): Buckets => {
    const kept = buckets.indexes.flatMap((_index, at) => (isBeyond(at) ? [at] : []));
    return { indexes: kept.map((at) => buckets.indexes[at] ?? 0), counts: kept.map((at) => buckets.counts[at] ?? 0) };
  };
  return {
    ...histogram,
    zeroThreshold: wanted.threshold,
    zeroCount: wanted.count,
    positive: beyond(histogram.positive, (at) => (positive[at]?.upper ?? 0) > wanted.threshold),
    negative: beyond(histogram.negative, (at) => (negative[at]?.lower ?? 0) < -wanted.threshold),
  };
}

/** The width that a zero bucket comes to, and its count then. */
function widened(histogram: Histogram, least: number): { readonly threshold: number; readonly count: number } {
  let threshold = least;
  for (;;) {
    const from = threshold;
    let count = histogram.zeroCount;
    for (const bucket of positiveBuckets(histogram)) {
      if (bucket.lower >= threshold) break;
      count += bucket.count;
      if (bucket.upper > threshold) {
        if (bucket.count !== 0) threshold = bucket.upper;
        break;
      }
    }
    const ofPositive = threshold;
    for (const bucket of negativeBuckets(histogram)) {
      if (bucket.upper <= -threshold) break;
      count += bucket.count;
      if (bucket.lower < -threshold) {
        if (bucket.count !== 0) threshold = -bucket.lower;
        break;
      }
    }
    if (threshold === ofPositive || threshold === from) return { threshold, count };
  }
}

/** Buckets of both sides; where one side has none, it counts as zero. */
export function mergeBuckets(left: Buckets, right: Buckets, operation: (a: number, b: number) => number): Buckets {
  const out: { indexes: number[]; counts: number[] } = { indexes: [], counts: [] };
  let [at, other] = [0, 0];
  while (at < left.indexes.length || other < right.indexes.length) {
    const [one = Infinity, two = Infinity] = [left.indexes[at], right.indexes[other]];
    out.indexes.push(Math.min(one, two));
    out.counts.push(operation(one <= two ? (left.counts[at] ?? 0) : 0, two <= one ? (right.counts[other] ?? 0) : 0));
    if (one <= two) at += 1;
    if (two <= one) other += 1;
  }
  return out;
}

/** Whether a histogram has begun again since the one before it. */
export function isReset(histogram: Histogram, previous: Histogram): boolean {
  if (histogram.hint === 'reset') return true;
  if (histogram.hint === 'not_reset') return false;
  if (histogram.count < previous.count || isCustom(histogram) !== isCustom(previous)) return true;
  if (isCustom(histogram)) {
    const both = reconcile(histogram, previous);
    return both === null || isBelow(both.left.positive, both.right.positive);
  }
  if (histogram.schema > previous.schema || histogram.zeroThreshold < previous.zeroThreshold) return true;
  const before = toSchema(widenZero(previous, histogram.zeroThreshold), histogram.schema);
  if (before.zeroThreshold !== histogram.zeroThreshold || histogram.zeroCount < before.zeroCount) return true;
  return isBelow(histogram.positive, before.positive) || isBelow(histogram.negative, before.negative);
}

/** Whether a bucket counts less than the same one before. */
function isBelow(now: Buckets, before: Buckets): boolean {
  let at = 0;
  return before.indexes.some((index, place) => {
    while ((now.indexes[at] ?? Infinity) < index) at += 1;
    const count = now.indexes[at] === index ? (now.counts[at] ?? 0) : 0;
    return count < (before.counts[place] ?? 0);
  });
}

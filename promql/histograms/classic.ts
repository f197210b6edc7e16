/** Quantiles and fractions of classic histograms: series of counts up to a bound. */

/** A bucket: everything up to its bound. */
export type ClassicBucket = { readonly bound: number; readonly count: number };

/** What was changed so that counts do not fall: from and to which bound, and by how much at most. */
export type Forced = { readonly from: number; readonly to: number; readonly most: number };

const TOLERANCE = 1e-12;

/** Sorted by bound, those of one bound as one. */
function merged(buckets: readonly ClassicBucket[]): { bound: number; count: number }[] {
  const out: { bound: number; count: number }[] = [];
  for (const { bound, count } of [...buckets].sort((a, b) => a.bound - b.bound)) {
    const last = out.at(-1);
    if (last?.bound === bound) last.count += count;
    else out.push({ bound, count });
  }
  return out;
}

/** Whether two counts differ only by rounding. */
function isAlmost(a: number, b: number): boolean {
  if (Number.isNaN(a) && Number.isNaN(b)) return true;
  if (a === b) return true;
  const difference = Math.abs(a - b);
  const sum = Math.abs(a) + Math.abs(b);
  if (a === 0 || b === 0 || sum < Number.MIN_VALUE * 2 ** 52) return difference < TOLERANCE * 2 ** -1022;
  return difference / Math.min(sum, Number.MAX_VALUE) < TOLERANCE;
}

/** Counts that never fall. */
function ensureRising(buckets: { bound: number; count: number }[]): Forced | null {
  let forced: Forced | null = null;
  let previous = buckets[0]?.count ?? 0;
  for (const bucket of buckets.slice(1)) {
    if (bucket.count === previous) continue;
    if (isAlmost(previous, bucket.count)) bucket.count = previous;
    else if (bucket.count < previous) {
      const lost = previous - bucket.count;
      const before: Forced = forced ?? { from: Infinity, to: -Infinity, most: 0 };
      forced = { from: Math.min(before.from, bucket.bound), to: Math.max(before.to, bucket.bound), most: Math.max(before.most, lost) };
      bucket.count = previous;
    } else previous = bucket.count;
  }
  return forced;
}

/** The quantile, and what was forced for it. */
export function classicQuantile(
  quantile: number,
  given: readonly ClassicBucket[],
): { readonly value: number; readonly forced: Forced | null } {
  const plain = (value: number): { value: number; forced: null } => ({ value, forced: null });
  if (Number.isNaN(quantile)) return plain(NaN);
  if (quantile < 0) return plain(-Infinity);
  if (quantile > 1) return plain(Infinity);
  const buckets = merged(given);
  if (buckets.at(-1)?.bound !== Infinity) return plain(NaN);
  const forced = ensureRising(buckets);
  const all = buckets.at(-1)?.count ?? 0;
  if (buckets.length < 2 || all === 0) return { value: NaN, forced };
  const rank = quantile * all;
  const found = buckets.slice(0, -1).findIndex(({ count }) => count >= rank);
  if (found < 0) return { value: buckets.at(-2)?.bound ?? NaN, forced };
  const { bound = 0, count = 0 } = buckets[found] ?? {};
  if (found === 0 && bound <= 0) return { value: bound, forced };
  const before = found === 0 ? { bound: 0, count: 0 } : (buckets[found - 1] ?? { bound: 0, count: 0 });
  return { value: before.bound + (bound - before.bound) * ((rank - before.count) / (count - before.count)), forced };
}

/** The share of the observations between two values. */
export function classicFraction(lower: number, upper: number, given: readonly ClassicBucket[]): number {
  const buckets = merged(given);
  const all = buckets.at(-1)?.count ?? 0;
  if (buckets.at(-1)?.bound !== Infinity || all === 0 || Number.isNaN(lower) || Number.isNaN(upper)) return NaN;
  if (lower >= upper) return 0;
  const rankOf = (value: number): number => {
    let from = (buckets[0]?.bound ?? 0) <= 0 ? -Infinity : 0;
    let rank = 0;
    for (const { bound, count } of buckets) {
      if (from >= value) return rank;
      if (bound > value) return from === -Infinity ? count : rank + ((count - rank) * (value - from)) / (bound - from);
      rank = count;
      from = bound;
    }
    return all;
  };
  return (Math.min(rankOf(upper), all) - Math.min(rankOf(lower), all)) / all;
}

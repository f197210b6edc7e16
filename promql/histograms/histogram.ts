/** A native histogram: buckets that grow exponentially, or whose bounds are given ("custom"). Values are never changed in place. */

/** Whether a histogram is known to begin again at zero, to go on, or to be no counter. */
export type ResetHint = 'unknown' | 'reset' | 'not_reset' | 'gauge';

/** Counts by the index of their buckets, in the order of the indexes. */
export type Buckets = { readonly indexes: readonly number[]; readonly counts: readonly number[] };

/** The schema of histograms whose bounds are given. */
export const CUSTOM_SCHEMA = -53;

const NO_BUCKETS: Buckets = { indexes: [], counts: [] };

/** All parts of a histogram. */
export type Histogram = {
  readonly schema: number;
  readonly zeroThreshold: number;
  readonly zeroCount: number;
  readonly count: number;
  /** Also where a marker of a series that ended lies: `isStale` says so. */
  readonly sum: number;
  readonly positive: Buckets;
  readonly negative: Buckets;
  /** Upper bounds, without the last one, of `CUSTOM_SCHEMA`. */
  readonly custom: readonly number[];
  readonly hint: ResetHint;
  readonly isStale?: true;
};

export const EMPTY: Histogram = {
  schema: 0,
  zeroThreshold: 0,
  zeroCount: 0,
  count: 0,
  sum: 0,
  positive: NO_BUCKETS,
  negative: NO_BUCKETS,
  custom: [],
  hint: 'unknown',
};

export const isCustom = ({ schema }: Histogram): boolean => schema === CUSTOM_SCHEMA;

/** The same with every count and the sum changed in one way. */
export function mapCounts(histogram: Histogram, change: (count: number) => number): Histogram {
  const buckets = ({ indexes, counts }: Buckets): Buckets => ({ indexes, counts: counts.map(change) });
  return {
    ...histogram,
    zeroCount: change(histogram.zeroCount),
    count: change(histogram.count),
    sum: change(histogram.sum),
    positive: buckets(histogram.positive),
    negative: buckets(histogram.negative),
  };
}

/** All counts and the sum times a factor; a negative factor makes a gauge of it. */
export function scale(histogram: Histogram, factor: number): Histogram {
  const scaled = mapCounts(histogram, (count) => count * factor);
  return factor < 0 ? { ...scaled, hint: 'gauge' } : scaled;
}

/** All counts and the sum by a divisor; a negative one makes a gauge of it. */
export function divide(histogram: Histogram, divisor: number): Histogram {
  const divided = mapCounts(histogram, (count) => count / divisor);
  if (divisor === 0) return { ...divided, positive: NO_BUCKETS, negative: NO_BUCKETS };
  return divisor < 0 ? { ...divided, hint: 'gauge' } : divided;
}

/** Without empty buckets. */
export function compact(histogram: Histogram): Histogram {
  return { ...histogram, positive: withoutEmpty(histogram.positive), negative: withoutEmpty(histogram.negative) };
}

function withoutEmpty(buckets: Buckets): Buckets {
  if (!buckets.counts.includes(0)) return buckets;
  const kept = buckets.counts.flatMap((count, at) => (count === 0 ? [] : [at]));
  return { indexes: kept.map((at) => buckets.indexes[at] ?? 0), counts: kept.map((at) => buckets.counts[at] ?? 0) };
}

const sameNumbers = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((value, at) => Object.is(value, b[at]) || value === b[at]);

/** Whether both have the same bounds; always so without custom bounds. */
export const sameBounds = (a: Histogram, b: Histogram): boolean => sameNumbers(a.custom, b.custom);

/** Whether both are the same in all parts but the hint. */
export function equalHistograms(a: Histogram, b: Histogram): boolean {
  const same = (left: Buckets, right: Buckets): boolean =>
    sameNumbers(left.indexes, right.indexes) && sameNumbers(left.counts, right.counts);
  return (
    a.schema === b.schema &&
    a.zeroThreshold === b.zeroThreshold &&
    sameNumbers([a.zeroCount, a.count, a.sum], [b.zeroCount, b.count, b.sum]) &&
    sameBounds(a, b) &&
    same(a.positive, b.positive) &&
    same(a.negative, b.negative)
  );
}

/** How many samples of a plain number a histogram weighs, for the bound of a query. */
export const weightOf = ({ positive, negative, custom }: Histogram): number =>
  Math.ceil((positive.indexes.length * 2 + negative.indexes.length * 2 + custom.length + 10) / 2);

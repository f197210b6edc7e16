/** Sums and means of histograms that keep what their roundings have lost. */
import { addHistograms, mergeBuckets, reconcile } from './arithmetic.ts';
import { mapCounts, type Histogram } from './histogram.ts';

/** A sum of histograms that keeps what its roundings have lost. */
export class HistogramSum {
  #total: Histogram;
  #lost: Histogram;

  constructor(first: Histogram) {
    this.#total = first;
    this.#lost = mapCounts(first, () => 0);
  }

  /** Adds one; null where exponential and custom buckets meet, else what had to be reconciled. */
  add(next: Histogram): { readonly isReconciled: boolean } | null {
    const both = reconcile(this.#total, next);
    if (both === null) return null;
    const summed = addHistograms(this.#total, next);
    const lost = reconcile(this.#lost, both.left);
    if (summed === null || lost === null) return null;
    const losses = losing(both.left, both.right);
    const sumOfLosses = addHistograms(lost.left, losses);
    if (sumOfLosses === null) return null;
    this.#total = summed.histogram;
    this.#lost = sumOfLosses.histogram;
    return { isReconciled: summed.isReconciled };
  }

  /** The same divided by a number. */
  divide(divisor: number): void {
    this.#total = mapCounts(this.#total, (count) => count / divisor);
    this.#lost = mapCounts(this.#lost, (count) => count / divisor);
  }

  /** The same times a factor. */
  scale(factor: number): void {
    this.#total = mapCounts(this.#total, (count) => count * factor);
    this.#lost = mapCounts(this.#lost, (count) => count * factor);
  }

  /** Whether a count or the sum is no longer finite. */
  get isOverflown(): boolean {
    const { zeroCount, count, sum, positive, negative } = this.#total;
    const isInfinite = (value: number): boolean => value === Infinity || value === -Infinity;
    return [zeroCount, count, sum].some(isInfinite) || positive.counts.some(isInfinite) || negative.counts.some(isInfinite);
  }

  /** Another sum that goes on from here. */
  copy(): HistogramSum {
    const copy = new HistogramSum(this.#total);
    copy.#lost = this.#lost;
    return copy;
  }

  get value(): Histogram {
    const { hint } = this.#total;
    return { ...(addHistograms(this.#total, { ...this.#lost, hint })?.histogram ?? this.#total), hint };
  }
}

/** What rounding loses of each count of a sum. */
function losing(left: Histogram, right: Histogram): Histogram {
  const lose = (a: number, b: number): number => {
    const total = a + b;
    if (total === Infinity || total === -Infinity) return 0;
    return Math.abs(a) >= Math.abs(b) ? a - total + b : b - total + a;
  };
  return {
    ...left,
    zeroCount: lose(left.zeroCount, right.zeroCount),
    count: lose(left.count, right.count),
    sum: lose(left.sum, right.sum),
    positive: mergeBuckets(left.positive, right.positive, lose),
    negative: mergeBuckets(left.negative, right.negative, lose),
  };
}

/** A mean of histograms: their sum by their number, or one that is carried on where the sum would not be finite. */
export class HistogramMean {
  #sum: HistogramSum;
  #count = 1;
  #isCarried = false;

  constructor(first: Histogram) {
    this.#sum = new HistogramSum(first);
  }

  /** Adds one; null where exponential and custom buckets meet. */
  add(histogram: Histogram): { readonly isReconciled: boolean } | null {
    this.#count += 1;
    const count = this.#count;
    if (!this.#isCarried) {
      const next = this.#sum.copy();
      const added = next.add(histogram);
      if (added === null) return null;
      if (!next.isOverflown) {
        this.#sum = next;
        return added;
      }
      this.#isCarried = true;
      this.#sum.divide(count - 1);
    }
    this.#sum.scale((count - 1) / count);
    return this.#sum.add(mapCounts(histogram, (own) => own / count));
  }

  get value(): Histogram {
    if (this.#isCarried) return this.#sum.value;
    const mean = this.#sum.copy();
    mean.divide(this.#count);
    return mean.value;
  }
}

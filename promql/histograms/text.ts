/** A histogram as Prometheus writes it, in labels of `count_values` and in answers. */
import { shortNumber, sampleText } from '../values/numbers.ts';
import { allBuckets, negativeBuckets, positiveBuckets, zeroBucket, type Bucket } from './buckets.ts';
import type { Histogram } from './histogram.ts';

const bucketText = ({ lower, upper, lowerInclusive, upperInclusive, count }: Bucket): string =>
  `${lowerInclusive ? '[' : '('}${shortNumber(lower)},${shortNumber(upper)}${upperInclusive ? ']' : ')'}:${shortNumber(count)}`;

/** `{count:4, sum:2, [-1,-0.5):1, (1,2]:3}`. */
export function histogramText(histogram: Histogram): string {
  const parts = [`count:${shortNumber(histogram.count)}`, `sum:${shortNumber(histogram.sum)}`];
  for (const bucket of negativeBuckets(histogram).reverse()) if (bucket.count !== 0) parts.push(bucketText(bucket));
  if (histogram.zeroCount !== 0) parts.push(bucketText(zeroBucket(histogram)));
  for (const bucket of positiveBuckets(histogram)) if (bucket.count !== 0) parts.push(bucketText(bucket));
  return `{${parts.join(', ')}}`;
}

/** 0: open on the left, 1: open on the right, 2: open on both, 3: closed on both. */
const boundaries = ({ lowerInclusive, upperInclusive }: Bucket): number => {
  if (lowerInclusive) return upperInclusive ? 3 : 1;
  return upperInclusive ? 0 : 2;
};

/** As the query API shows a histogram. */
export function histogramJson(histogram: Histogram): { readonly count: string; readonly sum: string; readonly buckets?: unknown[] } {
  const used = allBuckets(histogram).filter(({ count }) => count !== 0);
  const buckets = used.map((bucket) => [boundaries(bucket), ...[bucket.lower, bucket.upper, bucket.count].map(sampleText)]);
  return {
    count: sampleText(histogram.count),
    sum: sampleText(histogram.sum),
    ...(buckets.length === 0 ? {} : { buckets }),
  };
}

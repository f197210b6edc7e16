/** What a native histogram says of its observations in one number. */
import { allBuckets, type Bucket } from '../histograms/buckets.ts';
import { isCustom, type Histogram } from '../histograms/histogram.ts';
import { Sum } from '../values/kahan.ts';
import type { MapFunction } from './base.ts';

const ofHistogram = (name: string, help: string, histogram: (histogram: Histogram) => number): MapFunction => ({
  kind: 'map',
  name,
  args: ['vector'],
  variadic: 0,
  returns: 'vector',
  help,
  histogram,
});

/** What the observations of a bucket are taken for. */
function middle({ lower, upper }: Bucket, isLinear: boolean): number {
  if (isLinear) return (lower + upper) / 2;
  if (lower <= 0 && upper >= 0) return 0;
  const mean = Math.sqrt(lower * upper);
  return upper < 0 ? -mean : mean;
}

function variance(histogram: Histogram): number {
  const mean = histogram.sum / histogram.count;
  const sum = new Sum();
  for (const bucket of allBuckets(histogram))
    if (bucket.count !== 0) sum.add(bucket.count * (middle(bucket, isCustom(histogram)) - mean) ** 2);
  return (sum.total + sum.lost) / histogram.count;
}

export const histogramCount = ofHistogram('histogram_count', 'number of observations', ({ count }) => count);
export const histogramSum = ofHistogram('histogram_sum', 'sum of the observations', ({ sum }) => sum);
export const histogramAvg = ofHistogram('histogram_avg', 'mean of the observations', ({ sum, count }) => sum / count);
export const histogramStdvar = ofHistogram('histogram_stdvar', 'estimated variance of the observations', variance);
export const histogramStddev = ofHistogram('histogram_stddev', 'estimated standard deviation of the observations', (own) =>
  Math.sqrt(variance(own)),
);

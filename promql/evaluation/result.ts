/** What a query gives, and how the query API shows it. */
import type { RawSeries } from '../base/series.ts';
import type { Histogram } from '../histograms/histogram.ts';
import { histogramJson } from '../histograms/text.ts';
import type { Labels } from '../values/labels.ts';
import { sampleText } from '../values/numbers.ts';

/** A sample of an instant vector. */
export type VectorSample = { readonly labels: Labels; readonly time: number; readonly value: number | Histogram };

export type Value =
  | { readonly type: 'scalar'; readonly time: number; readonly value: number }
  | { readonly type: 'string'; readonly time: number; readonly value: string }
  | { readonly type: 'vector'; readonly samples: readonly VectorSample[] }
  | { readonly type: 'matrix'; readonly series: readonly RawSeries[] };

/** A value, what should be known of it, and what it cost. */
export type QueryResult = {
  readonly value: Value;
  readonly warnings: readonly string[];
  readonly infos: readonly string[];
  /** Samples that were read, and most that were held at once. */
  readonly read: number;
  readonly peak: number;
};

const point = (time: number, value: number): unknown[] => [time / 1000, sampleText(value)];

function seriesJson({ labels, timestamps, values, histograms }: RawSeries): unknown {
  const numbers: unknown[] = [];
  const others: unknown[] = [];
  for (const [at, time] of timestamps.entries()) {
    const histogram = histograms?.[at];
    if (histogram === undefined) numbers.push(point(time, values[at] ?? NaN));
    else others.push([time / 1000, histogramJson(histogram)]);
  }
  return {
    metric: labels,
    ...(numbers.length === 0 ? {} : { values: numbers }),
    ...(others.length === 0 ? {} : { histograms: others }),
  };
}

/** `resultType` and `result` of the query API. */
export function valueJson(value: Value): { readonly resultType: string; readonly result: unknown } {
  switch (value.type) {
    case 'scalar':
      return { resultType: 'scalar', result: point(value.time, value.value) };
    case 'string':
      return { resultType: 'string', result: [value.time / 1000, value.value] };
    case 'vector':
      return {
        resultType: 'vector',
        result: value.samples.map(({ labels, time, value: own }) =>
          typeof own === 'number'
            ? { metric: labels, value: point(time, own) }
            : { metric: labels, histogram: [time / 1000, histogramJson(own)] },
        ),
      };
    case 'matrix':
      return { resultType: 'matrix', result: value.series.map(seriesJson) };
  }
}

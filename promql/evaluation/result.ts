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

/** A point: its time in seconds, and its number as a string, which has no character that JSON escapes. */
const pointText = (time: number, value: number): string => `[${String(time / 1000)},"${sampleText(value)}"]`;
const histogramPoint = (time: number, histogram: Histogram): string =>
  `[${String(time / 1000)},${JSON.stringify(histogramJson(histogram))}]`;

function seriesText({ labels, timestamps, values, histograms }: RawSeries): string {
  let [numbers, others] = ['', ''];
  for (let at = 0; at < timestamps.length; at += 1) {
    const time = timestamps[at] as number;
    const histogram = histograms?.[at];
    if (histogram === undefined) numbers += `${numbers === '' ? '' : ','}${pointText(time, values[at] as number)}`;
    else others += `${others === '' ? '' : ','}${histogramPoint(time, histogram)}`;
  }
  return `{"metric":${JSON.stringify(labels)}${numbers === '' ? '' : `,"values":[${numbers}]`}${others === '' ? '' : `,"histograms":[${others}]`}}`;
}

function sampleJson({ labels, time, value }: VectorSample): string {
  const own = typeof value === 'number' ? `"value":${pointText(time, value)}` : `"histogram":${histogramPoint(time, value)}`;
  return `{"metric":${JSON.stringify(labels)},${own}}`;
}

/**
 * `resultType` and `result` of the query API, the members of an object in JSON, in pieces: one for each series, since points as objects and as one text are
 * many times what they take as numbers. `most`: how many series are shown.
 */
export function* valueTexts(value: Value, most = Infinity): Generator<string> {
  switch (value.type) {
    case 'scalar':
      yield `"resultType":"scalar","result":${pointText(value.time, value.value)}`;
      break;
    case 'string':
      yield `"resultType":"string","result":[${String(value.time / 1000)},${JSON.stringify(value.value)}]`;
      break;
    case 'vector':
      yield* listTexts(value.type, value.samples, most, sampleJson);
      break;
    case 'matrix':
      yield* listTexts(value.type, value.series, most, seriesText);
      break;
  }
}

function* listTexts<Item>(type: string, items: readonly Item[], most: number, textOf: (item: Item) => string): Generator<string> {
  yield `"resultType":"${type}","result":[`;
  for (const [at, item] of items.slice(0, most).entries()) yield (at === 0 ? '' : ',') + textOf(item);
  yield ']';
}

import { readHistogram, type NativeHistogram, type Span } from '../../pipeline/samples/histogram.ts';
import type { RawSeries } from '../../promql/base/series.ts';
import type { SampleSource, Selection } from '../../promql/base/source.ts';
import type { Buckets, Histogram, ResetHint } from '../../promql/histograms/histogram.ts';
import { Labels } from '../../promql/values/labels.ts';
import { StaleMarkers } from '../../promql/values/numbers.ts';
import type { SampleSource as Stored, SeriesSamples } from '../metrics/sample-source.ts';

const HINTS: readonly ResetHint[] = ['unknown', 'reset', 'not_reset', 'gauge'];

/** What is stored of samples, as PromQL reads it: series in the order of their ids, one at a time, behind those that are derived. */
export class StoredSeries implements SampleSource {
  readonly #stored: Stored;
  readonly #derived: (selection: Selection) => Promise<readonly RawSeries[] | null>;

  /** `derived`: series that are stored in another form; null where a selection has none. */
  constructor(stored: Stored, derived: (selection: Selection) => Promise<readonly RawSeries[] | null>) {
    this.#stored = stored;
    this.#derived = derived;
  }

  async *select(selection: Selection): AsyncGenerator<RawSeries> {
    const derived = await this.#derived(selection);
    if (derived !== null) yield* derived;
    const { matchers, after, until } = selection;
    const wanted = matchers.map(({ name, type, value }) => ({ name, op: type, value }));
    for await (const series of this.#stored.select(wanted, after + 1, until)) yield rawSeries(series);
  }
}

function rawSeries({ labels, timestamps, values, histograms, isDelta }: SeriesSamples): RawSeries {
  const own = { labels: Labels.of(labels), ...(isDelta ? { isDelta } : {}) };
  if (histograms.payloads.length === 0) return { ...own, timestamps, values };
  return { ...own, ...merged({ timestamps, values }, histograms) };
}

/** Numbers and histograms in one order of time. At one time a histogram counts. */
function merged(
  numbers: Pick<SeriesSamples, 'timestamps' | 'values'>,
  native: SeriesSamples['histograms'],
): Pick<RawSeries, 'timestamps' | 'values' | 'histograms'> {
  const times = Float64Array.from(new Set([...numbers.timestamps, ...native.timestamps])).sort();
  const values = new Float64Array(times.length);
  const histograms = Array<Histogram | undefined>(times.length);
  const markers = new StaleMarkers(native.sums);
  let [number, histogram] = [0, 0];
  for (const [at, time] of times.entries()) {
    if (numbers.timestamps[number] === time) {
      // by their bits: a marker stays one
      values.set(numbers.values.subarray(number, number + 1), at);
      number += 1;
    }
    if (native.timestamps[histogram] !== time) continue;
    const read = readHistogram(native.payloads[histogram] as Buffer);
    histograms[at] = histogramOf(read, native.sums[histogram] ?? NaN, markers.at(histogram));
    histogram += 1;
  }
  return { timestamps: times, values, histograms };
}

function histogramOf(read: NativeHistogram, sum: number, isStale: boolean): Histogram {
  const { schema, zeroThreshold, zeroCount, count, positiveSpans, positive, negativeSpans, negative, customValues, resetHint } = read;
  return {
    ...{ schema, zeroThreshold, zeroCount, count, sum },
    positive: bucketsOf(positiveSpans, positive),
    negative: bucketsOf(negativeSpans, negative),
    custom: customValues,
    hint: HINTS[resetHint] ?? 'unknown',
    ...(isStale ? { isStale } : {}),
  };
}

/** Spans lie behind each other, each so many buckets from the end of the one before. */
function bucketsOf(spans: readonly Span[], counts: readonly number[]): Buckets {
  const indexes: number[] = [];
  let next = 0;
  for (const { offset, length } of spans) {
    next += offset;
    for (let bucket = 0; bucket < length && indexes.length < counts.length; bucket += 1) indexes.push(next++);
  }
  return { indexes, counts: counts.slice(0, indexes.length) };
}

/** Samples in memory, as a source for the evaluator: what tests and benches read. */
import { isReset } from '../../promql/histograms/arithmetic.ts';
import type { Histogram } from '../../promql/histograms/histogram.ts';
import type { RawSeries } from '../../promql/base/series.ts';
import type { SampleSource, Selection } from '../../promql/base/source.ts';
import { compareLabels, type Labels } from '../../promql/values/labels.ts';
import { matchesAll } from '../../promql/values/matcher.ts';
import { STALE_BITS } from '../../promql/values/numbers.ts';

/** A number, a histogram, or the marker of an end. */
export type Sample = number | Histogram | 'stale';

/** Numbers and histograms with their times, in order. */
export function rawSeries(labels: Labels, samples: readonly (readonly [time: number, sample: Sample])[]): RawSeries {
  const values = new Float64Array(samples.length);
  const bits = new BigUint64Array(values.buffer);
  samples.forEach(([, sample], at) => {
    if (typeof sample === 'number') values[at] = sample;
    else if (sample === 'stale') bits[at] = STALE_BITS;
  });
  const timestamps = Float64Array.from(samples, ([time]) => time);
  if (samples.every(([, sample]) => typeof sample !== 'object')) return { labels, timestamps, values };
  return { labels, timestamps, values, histograms: withHints(samples) };
}

/** Histograms with what a store knows of them: whether each goes on from the one before. */
function withHints(samples: readonly (readonly [number, Sample])[]): (Histogram | undefined)[] {
  let before: Histogram | undefined;
  return samples.map(([, sample]) => {
    if (typeof sample !== 'object') {
      before = undefined;
      return undefined;
    }
    const previous = before;
    before = sample;
    if (sample.hint === 'gauge' || sample.hint === 'reset') return sample;
    if (previous === undefined || previous.hint === 'gauge') return { ...sample, hint: 'unknown' };
    return { ...sample, hint: isReset({ ...sample, hint: 'unknown' }, previous) ? 'unknown' : 'not_reset' };
  });
}

/** The part of a series that lies in a window. */
function cut(series: RawSeries, after: number, until: number): RawSeries {
  const { timestamps, values, histograms } = series;
  const first = lowest(timestamps, after);
  const end = lowest(timestamps, until);
  const found = { ...series, timestamps: timestamps.subarray(first, end), values: values.subarray(first, end) };
  return histograms === undefined ? found : { ...found, histograms: histograms.slice(first, end) };
}

/** The place of the first time that is greater. */
function lowest(times: Float64Array, time: number): number {
  let [from, to] = [0, times.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((times[middle] as number) > time) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** Series in memory, given in the order of their labels. */
export class MemorySource implements SampleSource {
  readonly series: readonly RawSeries[];

  constructor(series: readonly RawSeries[]) {
    this.series = [...series].sort((a, b) => compareLabels(a.labels, b.labels));
  }

  *select({ matchers, after, until }: Selection): Iterable<RawSeries> {
    for (const one of this.series) {
      if (!matchesAll(one.labels, matchers)) continue;
      const part = cut(one, after, until);
      if (part.timestamps.length > 0) yield part;
    }
  }
}

/** Series at steps and in windows, from the samples of a source or of a subquery. */
import type { VectorSelector } from '../base/ast.ts';
import { ABSENT, FLOAT, HISTOGRAM, StepSeries, type RawSeries } from '../base/series.ts';
import type { Selection } from '../base/source.ts';
import type { WindowTimes } from '../functions/cuts.ts';
import type { Histogram } from '../histograms/histogram.ts';
import { StaleMarkers } from '../values/numbers.ts';

/** Which samples the windows of all steps need. */
export function selectionOf({ matchers }: Pick<VectorSelector, 'matchers'>, { ends, length, steps }: WindowTimes): Selection {
  return { matchers, after: (ends[0] ?? 0) - length, until: ends[steps - 1] ?? 0 };
}

/** The newest sample of each window, unless it marks the end of the series. `asTimes`: its time, in milliseconds, in place of its value. */
export function newestSamples(series: RawSeries, { ends, length, steps }: WindowTimes, asTimes: boolean): StepSeries {
  const { timestamps, values, histograms } = series;
  const out = new StepSeries(series.labels, steps);
  const stale = new StaleMarkers(values);
  const count = timestamps.length;
  let next = 0;
  for (let step = 0; step < steps; step += 1) {
    const end = ends[step] as number;
    while (next < count && (timestamps[next] as number) <= end) next += 1;
    const at = next - 1;
    const time = timestamps[at];
    if (time === undefined || time <= end - length) continue;
    const histogram = histograms?.[at];
    if (histogram === undefined) {
      const value = values[at] as number;
      if (value !== value && stale.at(at)) continue;
      out.values[step] = asTimes ? time : value;
      out.kinds[step] = FLOAT;
    } else if (histogram.isStale !== true) {
      if (asTimes) out.setFloat(step, time);
      else out.setHistogram(step, histogram);
    }
  }
  return out;
}

/** What a series has at its steps, as samples; `times` are those of the steps. Where it is never absent, its arrays are taken over. */
export function samplesOf({ labels, kinds, values, histograms }: StepSeries, times: Float64Array): RawSeries {
  let count = 0;
  for (let step = 0; step < kinds.length; step += 1) if (kinds[step] !== ABSENT) count += 1;
  if (count === kinds.length && histograms === undefined) return { labels, timestamps: times, values };
  const found = { labels, timestamps: new Float64Array(count), values: new Float64Array(count) };
  const own: (Histogram | undefined)[] = [];
  let at = 0;
  for (let step = 0; step < kinds.length; step += 1) {
    const kind = kinds[step];
    if (kind === ABSENT) continue;
    found.timestamps[at] = times[step] as number;
    found.values[at] = values[step] as number;
    if (histograms !== undefined) own.push(kind === HISTOGRAM ? histograms[step] : undefined);
    at += 1;
  }
  return histograms === undefined ? found : { ...found, histograms: own };
}

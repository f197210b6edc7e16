/** The samples of one series, and which of them lie in the window of each step. */
import type { Note } from '../base/annotations.ts';
import type { Range } from '../base/errors.ts';
import type { RawSeries, StepSeries } from '../base/series.ts';
import { weightOf, type Histogram } from '../histograms/histogram.ts';
import type { Labels } from '../values/labels.ts';
import { StaleMarkers } from '../values/numbers.ts';
import { cutOf, type Cut, type Cuts, type WindowTimes } from './cuts.ts';

/** Numbers and histograms of one step, where a series has both. */
export type Mixed = {
  readonly times: Float64Array;
  readonly values: Float64Array;
  readonly histogramTimes: readonly number[];
  readonly histograms: readonly Histogram[];
};

/** What a function over windows reads. Markers of ends are not among the samples. */
export class Windows {
  readonly steps: number;
  readonly shape: WindowTimes;
  readonly labels: Labels;
  /** Numbers of the series, and which of them belong to a step: from `from[step]` up to before `to[step]`. */
  readonly times: Float64Array;
  readonly values: Float64Array;
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** Both. */
  readonly cut: Cut;
  readonly histogramTimes: readonly number[];
  readonly histograms: readonly Histogram[];
  /** Samples are what was added since the one before. */
  readonly isDelta: boolean;
  readonly scalars: readonly Float64Array[];
  /** The place of the first argument. */
  readonly firstRange: Range;
  readonly #note: (note: Note, range: Range) => void;
  #histogramCut: Cut | undefined;

  constructor(
    series: RawSeries,
    shape: WindowTimes,
    call: Pick<Windows, 'scalars' | 'firstRange'> & { note(note: Note, range: Range): void; readonly cuts?: Cuts },
  ) {
    const plain = withoutMarkers(series);
    this.steps = shape.steps;
    this.shape = shape;
    this.labels = series.labels;
    this.isDelta = series.isDelta === true;
    this.times = plain.times;
    this.values = plain.values;
    this.histogramTimes = plain.histogramTimes;
    this.histograms = plain.histograms;
    this.scalars = call.scalars;
    this.firstRange = call.firstRange;
    this.#note = (note, range) => call.note(note, range);
    this.cut = call.cuts?.of(this.times) ?? cutOf(this.times, shape);
    this.from = this.cut.from;
    this.to = this.cut.to;
  }

  get metricName(): string {
    return this.labels.metricName;
  }

  get hasHistograms(): boolean {
    return this.histograms.length > 0;
  }

  /** How many samples of a plain number the series weighs. */
  get weight(): number {
    return this.values.length + this.histograms.reduce((sum, histogram) => sum + weightOf(histogram), 0);
  }

  /** Which histograms belong to a step. */
  get histogramCut(): Cut {
    return (this.#histogramCut ??= cutOf(Float64Array.from(this.histogramTimes), this.shape));
  }

  /** The samples of a step, where there may be histograms. */
  mixedAt(step: number): Mixed {
    const [from = 0, to = 0] = [this.from[step], this.to[step]];
    const [first = 0, end = 0] = [this.histogramCut.from[step], this.histogramCut.to[step]];
    return {
      times: this.times.subarray(from, to),
      values: this.values.subarray(from, to),
      histogramTimes: this.histogramTimes.slice(first, end),
      histograms: this.histograms.slice(first, end),
    };
  }

  /** Calls with each step that has a sample in its window. */
  eachMixed(visit: (samples: Mixed, step: number) => void): void {
    for (let step = 0; step < this.steps; step += 1) {
      const samples = this.mixedAt(step);
      if (samples.values.length + samples.histograms.length > 0) visit(samples, step);
    }
  }

  /** Notes something about the first argument. */
  note(note: Note): void {
    this.#note(note, this.firstRange);
  }
}

function hasMarker(values: Float64Array, stale: StaleMarkers): boolean {
  // a marker is no number; that there is none such is found five times as quickly
  if (!values.includes(NaN)) return false;
  for (let at = 0; at < values.length; at += 1) if (stale.at(at)) return true;
  return false;
}

/** Samples without markers; the same arrays where there are none and all are numbers. */
function withoutMarkers({ timestamps, values, histograms }: RawSeries): Mixed {
  const stale = new StaleMarkers(values);
  if (histograms === undefined && !hasMarker(values, stale)) return { times: timestamps, values, histogramTimes: [], histograms: [] };
  const kept: number[] = [];
  const histogramTimes: number[] = [];
  const found: Histogram[] = [];
  for (const [at, time] of timestamps.entries()) {
    const histogram = histograms?.[at];
    if (histogram === undefined) {
      if (!stale.at(at)) kept.push(at);
    } else if (histogram.isStale !== true) {
      histogramTimes.push(time);
      found.push(histogram);
    }
  }
  const pick = (from: Float64Array): Float64Array => Float64Array.from(kept, (at) => from[at] ?? NaN);
  return { times: pick(timestamps), values: pick(values), histogramTimes, histograms: found };
}

/** Runs a function of the numbers of a window at each step that has some: where a series has numbers alone, without further objects. */
export function eachWindow(
  windows: Windows,
  out: StepSeries,
  least: number,
  compute: (from: number, to: number, step: number) => number,
): void {
  const { from, to } = windows;
  for (let step = 0; step < windows.steps; step += 1) {
    const [first, end] = [from[step] as number, to[step] as number];
    if (end - first >= least) out.setFloat(step, compute(first, end, step));
  }
}

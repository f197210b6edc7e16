/** Series: as they are read, and as they are at the steps of an evaluation. */
import type { Histogram } from '../histograms/histogram.ts';
import type { Labels } from '../values/labels.ts';

/** A series with its samples, in order of time, each time once. */
export type RawSeries = {
  readonly labels: Labels;
  /** Milliseconds since 1970. */
  readonly timestamps: Float64Array;
  /** Bits as stored: `StaleMarkers` finds the markers. Not looked at where there is a histogram. */
  readonly values: Float64Array;
  /** By the places of `timestamps`; absent where the series has none. */
  readonly histograms?: readonly (Histogram | undefined)[];
  /** Its samples are what was added since the one before: `rate` and `increase` add them. */
  readonly isDelta?: true;
};

export const ABSENT = 0;
export const FLOAT = 1;
export const HISTOGRAM = 2;

/** A series at the steps of an evaluation. At each step it is absent, a number or a histogram. */
export class StepSeries {
  labels: Labels;
  /** The metric's name goes at the end of the query. */
  dropName: boolean;
  readonly values: Float64Array;
  /** ABSENT, FLOAT or HISTOGRAM by step. */
  readonly kinds: Uint8Array;
  histograms: (Histogram | undefined)[] | undefined;

  constructor(labels: Labels, steps: number, dropName = false) {
    this.labels = labels;
    this.dropName = dropName;
    this.values = new Float64Array(steps);
    this.kinds = new Uint8Array(steps);
  }

  /** The same number at every step. */
  static constant(labels: Labels, steps: number, value: number): StepSeries {
    const series = new StepSeries(labels, steps);
    series.values.fill(value);
    series.kinds.fill(FLOAT);
    return series;
  }

  setFloat(step: number, value: number): void {
    this.values[step] = value;
    this.kinds[step] = FLOAT;
  }

  setHistogram(step: number, histogram: Histogram): void {
    this.histograms ??= [];
    this.histograms[step] = histogram;
    this.kinds[step] = HISTOGRAM;
  }

  /** The histogram of a step that has one. */
  histogramAt(step: number): Histogram {
    const found = this.histograms?.[step];
    if (found === undefined) throw new Error('BUG: there is no histogram at this step');
    return found;
  }

  /** Takes what another series has at a step. */
  copyFrom(other: StepSeries, step: number, to = step): void {
    if (other.kinds[step] === FLOAT) this.setFloat(to, other.values[step] ?? 0);
    else if (other.kinds[step] === HISTOGRAM) this.setHistogram(to, other.histogramAt(step));
  }

  /** Whether it is absent at every step. */
  get isEmpty(): boolean {
    for (const kind of this.kinds) if (kind !== ABSENT) return false;
    return true;
  }

  /** One step, at every one of more steps. */
  spread(steps: number): StepSeries {
    const series = new StepSeries(this.labels, steps, this.dropName);
    series.kinds.fill(this.kinds[0] ?? ABSENT);
    series.values.fill(this.values[0] ?? 0);
    if (this.histograms !== undefined) series.histograms = Array.from({ length: steps }, () => this.histograms?.[0]);
    return series;
  }
}

/** `sum`, `avg`. */
import { NOTES } from '../base/annotations.ts';
import { ABSENT, FLOAT, HISTOGRAM, StepSeries } from '../base/series.ts';
import { compact, type Histogram } from '../histograms/histogram.ts';
import { HistogramMean, HistogramSum } from '../histograms/sums.ts';
import type { Labels } from '../values/labels.ts';
import { Mean } from '../values/kahan.ts';
import type { Accumulator, AggregationContext, Aggregator } from './base.ts';

/** The histograms of one step, and whether they cannot be added. */
type HistogramTotal = { total: HistogramSum | HistogramMean; isBroken: boolean; wasReset: boolean; wasNotReset: boolean };

const BOTH = FLOAT | HISTOGRAM;

class Total implements Accumulator {
  readonly #labels: Labels;
  readonly #context: AggregationContext;
  readonly #isMean: boolean;
  readonly #totals: Float64Array;
  /** What rounding has lost of each total. */
  readonly #lost: Float64Array;
  readonly #counts: Float64Array;
  /** FLOAT, HISTOGRAM or both by step. */
  readonly #kinds: Uint8Array;
  readonly #histograms = new Map<number, HistogramTotal>();
  /** Means of steps whose sum would not be finite. */
  readonly #means = new Map<number, Mean>();
  #dropName = false;

  constructor(labels: Labels, context: AggregationContext, isMean: boolean) {
    this.#labels = labels;
    this.#context = context;
    this.#isMean = isMean;
    this.#totals = new Float64Array(context.steps);
    this.#lost = new Float64Array(context.steps);
    this.#counts = new Float64Array(context.steps);
    this.#kinds = new Uint8Array(context.steps);
    context.hold(context.steps);
  }

  add(series: StepSeries): void {
    this.#dropName ||= series.dropName;
    const { kinds, values } = series;
    const [totals, lost, counts, own] = [this.#totals, this.#lost, this.#counts, this.#kinds];
    let hasMeans = this.#means.size > 0;
    for (let step = 0; step < kinds.length; step += 1) {
      const kind = kinds[step] as number;
      if (kind === ABSENT) continue;
      own[step] = (own[step] as number) | kind;
      if (kind === HISTOGRAM) {
        this.#addHistogram(step, series.histogramAt(step), series.labels.metricName);
        continue;
      }
      const value = values[step] as number;
      const total = totals[step] as number;
      const count = (counts[step] as number) + 1;
      const next = count === 1 ? value : total + value;
      counts[step] = count;
      if (hasMeans || next === Infinity || next === -Infinity) {
        this.#addEndless(step, value, next);
        hasMeans = this.#means.size > 0;
        continue;
      }
      if (count > 1)
        lost[step] = (lost[step] as number) + (Math.abs(total) >= Math.abs(value) ? total - next + value : value - next + total);
      totals[step] = next;
    }
  }

  /** Where a sum is not finite: the mean goes on by itself, and the sum has lost nothing. */
  #addEndless(step: number, value: number, next: number): void {
    const [total, count] = [this.#totals[step] ?? 0, this.#counts[step] ?? 0];
    const isEndless = next === Infinity || next === -Infinity;
    const mean = this.#means.get(step);
    if (mean !== undefined) mean.add(value);
    else if (this.#isMean && isEndless) {
      const begun = new Mean();
      begun.carryOn(total / Math.max(1, count - 1), (this.#lost[step] ?? 0) / Math.max(1, count - 1), count - 1);
      begun.add(value);
      this.#means.set(step, begun);
    }
    if (isEndless) this.#lost[step] = 0;
    else if (count > 1)
      this.#lost[step] = (this.#lost[step] ?? 0) + (Math.abs(total) >= Math.abs(value) ? total - next + value : value - next + total);
    this.#totals[step] = next;
  }

  #addHistogram(step: number, histogram: Histogram, name: string): void {
    const found = this.#histograms.get(step);
    if (found === undefined) {
      const total = this.#isMean ? new HistogramMean(histogram) : new HistogramSum(histogram);
      const [wasReset, wasNotReset] = [histogram.hint === 'reset', histogram.hint === 'not_reset'];
      this.#histograms.set(step, { total, isBroken: false, wasReset, wasNotReset });
      return;
    }
    if (found.isBroken) return;
    found.wasReset ||= histogram.hint === 'reset';
    found.wasNotReset ||= histogram.hint === 'not_reset';
    const added = found.total.add(histogram);
    if (added === null) {
      this.#context.note(NOTES.mixedSchemas(name));
      found.isBroken = true;
    } else if (added.isReconciled) this.#context.note(NOTES.reconciledBounds('aggregation'));
  }

  finish(): StepSeries[] {
    const out = new StepSeries(this.#labels, this.#context.steps, this.#dropName);
    for (let step = 0; step < this.#kinds.length; step += 1) {
      const kind = this.#kinds[step] as number;
      if (kind === BOTH) this.#context.note(NOTES.mixedInAggregation());
      else if (kind === FLOAT) out.setFloat(step, this.#floatAt(step));
      else if (kind === HISTOGRAM) this.#finishHistogram(step, out);
    }
    return [out];
  }

  #floatAt(step: number): number {
    const [total, lost, count] = [this.#totals[step] as number, this.#lost[step] as number, this.#counts[step] as number];
    if (!this.#isMean) return total + lost;
    return this.#means.get(step)?.value ?? total / count + lost / count;
  }

  #finishHistogram(step: number, out: StepSeries): void {
    const found = this.#histograms.get(step);
    if (found === undefined || found.isBroken) return;
    if (found.wasReset && found.wasNotReset) this.#context.note(NOTES.resetCollision('aggregation'));
    out.setHistogram(step, compact(found.total.value));
  }
}

const total = (name: string, isMean: boolean, help: string): Aggregator => ({
  name,
  help,
  group: (labels, context) => new Total(labels, context, isMean),
});

export const sum = total('sum', false, 'sum');
export const avg = total('avg', true, 'mean');

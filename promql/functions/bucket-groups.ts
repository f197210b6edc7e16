/** Histograms at a step, native ones and those of series with bounds in their label `le`, for quantiles and fractions. */
import { NOTES } from '../base/annotations.ts';
import { PromqlExecutionError, SAME_LABELS, type Range } from '../base/errors.ts';
import { ABSENT, FLOAT, StepSeries } from '../base/series.ts';
import type { ClassicBucket } from '../histograms/classic.ts';
import type { Histogram } from '../histograms/histogram.ts';
import { BUCKET, METRIC_NAME, type Labels } from '../values/labels.ts';
import { readNumber } from '../values/numbers.ts';
import type { CallContext } from './base.ts';

/** The series that make up one histogram, and what they are together. */
type Group = {
  readonly labels: Labels;
  readonly classic: { readonly series: StepSeries; readonly bound: number | null }[];
  readonly native: StepSeries[];
};

/** One histogram at one step. */
export type Visit = (
  group: { readonly labels: Labels; readonly at: number },
  found: readonly ClassicBucket[] | Histogram,
  step: number,
) => void;

const NO_BUCKET = new Set([BUCKET]);

/** Groups series by their labels without `le`. */
function groupsOf(series: readonly StepSeries[]): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const one of series) {
    const labels = one.labels.without(NO_BUCKET);
    const group = groups.get(labels.key) ?? { labels, classic: [], native: [] };
    groups.set(labels.key, group);
    if (one.histograms !== undefined) group.native.push(one);
    group.classic.push({ series: one, bound: readNumber(one.labels.get(BUCKET)) });
  }
  return [...groups.values()];
}

/** Calls with each histogram of each step. Native ones come first; where both kinds have the same labels, neither is taken, with a note. */
export function eachHistogram(series: readonly StepSeries[], context: CallContext, range: Range, visit: Visit): void {
  const groups = groupsOf(series);
  const nameOf = (labels: Labels): string => labels.get(METRIC_NAME);
  for (const [at, group] of groups.entries()) {
    for (let step = 0; step < context.steps; step += 1) {
      const buckets: ClassicBucket[] = [];
      for (const { series: one, bound } of group.classic) {
        if (one.kinds[step] !== FLOAT) continue;
        if (bound === null) context.note(NOTES.badBucketLabel(nameOf(one.labels), one.labels.get(BUCKET)), range);
        else buckets.push({ bound, count: one.values[step] as number });
      }
      const native = group.native.filter((one) => one.kinds[step] !== ABSENT && one.kinds[step] !== FLOAT);
      for (const one of native) {
        const isSame = one.labels.get(BUCKET) === '';
        if (isSame && buckets.length > 0) context.note(NOTES.mixedClassicNative(nameOf(group.labels)), range);
        else visit({ labels: one.labels, at: isSame ? at : -1 }, one.histogramAt(step), step);
      }
      if (buckets.length > 0 && !native.some((one) => one.labels.get(BUCKET) === '')) visit({ labels: group.labels, at }, buckets, step);
    }
  }
}

/** Results by labels, one series each. */
export class Results {
  readonly #series = new Map<string, StepSeries>();
  readonly #context: CallContext;

  constructor(context: CallContext) {
    this.#context = context;
  }

  /** Sets a number of the series of these labels, whose name goes. Throws where it has one at this step. */
  set(labels: Labels, step: number, value: number): void {
    const series = this.#of(labels);
    if (series.kinds[step] !== ABSENT) throw new PromqlExecutionError(SAME_LABELS);
    series.setFloat(step, value);
  }

  #of(labels: Labels): StepSeries {
    const unnamed = this.#context.unnamed({ labels, dropName: false });
    const found = this.#series.get(labels.key) ?? new StepSeries(unnamed.labels, this.#context.steps, unnamed.dropName);
    this.#series.set(labels.key, found);
    return found;
  }

  get all(): StepSeries[] {
    return [...this.#series.values()];
  }
}

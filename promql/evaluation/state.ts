/** What an evaluation shares between its parts: the source, the options, what is held, and what has to be noted. */
import { Annotations } from '../base/annotations.ts';
import { PromqlExecutionError, PromqlLimitError, SAME_LABELS } from '../base/errors.ts';
import { MAX_SAMPLES } from '../base/limits.ts';
import { ABSENT, type RawSeries, type StepSeries } from '../base/series.ts';
import type { SampleSource, Selection } from '../base/source.ts';
import type { Expression, VectorSelector } from '../base/ast.ts';
import { weightOf } from '../histograms/histogram.ts';
import { withoutName, type Labels } from '../values/labels.ts';
import type { QueryTimes } from '../parser/durations.ts';
import { SharedReads, type SharedRead } from './shared-reads.ts';

/** The part of what may be held that one read may take which others wait for. */
const SHARE = 4;

/** How queries are evaluated. */
export type Options = {
  readonly source: SampleSource;
  /** Milliseconds that a sample holds for; Prometheus has five minutes. */
  readonly lookbackMs?: number;
  /** Milliseconds between the steps of a subquery that has no step. */
  readonly defaultStepMs?: number;
  /** Samples that may be held at once, where it is less than MAX_SAMPLES. */
  readonly maxSamples?: number;
  /** Names of metrics go at the end of a query, and not in each function (Prometheus' `promql-delayed-name-removal`). */
  readonly isNameDelayed?: boolean;
  /** Is called now and then; throws where the query must end. */
  readonly checkpoint?: () => void;
  /** Is called with how many more samples are held from now on, or, below zero, how many less; throws PromqlLimitError where these are too many. */
  readonly onHold?: (samples: number) => void;
};

/** One evaluation. */
export class QueryState {
  readonly source: SampleSource;
  readonly lookbackMs: number;
  readonly defaultStepMs: number;
  readonly isNameDelayed: boolean;
  readonly annotations: Annotations;
  readonly times: QueryTimes;
  readonly #shared: SharedReads;
  readonly #maxSamples: number;
  readonly #checkpoint: () => void;
  readonly #onHold: (samples: number) => void;
  #held = 0;
  /** Most samples that were held at once, and all that were read. */
  peak = 0;
  read = 0;

  constructor(options: Options, query: string, expression: Expression, times: QueryTimes) {
    this.source = options.source;
    this.lookbackMs = options.lookbackMs ?? 300_000;
    this.defaultStepMs = options.defaultStepMs ?? 60_000;
    this.isNameDelayed = options.isNameDelayed ?? false;
    this.annotations = new Annotations(query);
    this.times = times;
    this.#shared = new SharedReads(expression);
    this.#maxSamples = Math.min(options.maxSamples ?? MAX_SAMPLES, MAX_SAMPLES);
    this.#checkpoint = options.checkpoint ?? (() => undefined);
    this.#onHold = options.onHold ?? (() => undefined);
  }

  /** Counts samples that are held from now on. Throws where there are too many. */
  hold(samples: number): void {
    this.#held += samples;
    this.peak = Math.max(this.peak, this.#held);
    if (this.#held > this.#maxSamples) throw new PromqlLimitError();
    this.#onHold(samples);
  }

  /** Throws where so many more could not be held. */
  expect(samples: number): void {
    if (this.#held + samples > this.#maxSamples) throw new PromqlLimitError();
  }

  release(samples: number): void {
    this.#held -= samples;
    this.#onHold(-samples);
  }

  /** The evaluation is over: what is left of it is its result, which is its caller's. */
  end(): void {
    this.release(this.#held);
  }

  /** Counts series as held. */
  keep(series: readonly StepSeries[]): void {
    for (const one of series) this.hold(sizeOf(one));
  }

  /** Counts series as no longer held. */
  drop(series: readonly StepSeries[]): void {
    for (const one of series) this.release(sizeOf(one));
  }

  /** Gives the series of a selector one after another; each is counted as held while it is looked at. Equal selectors are read once. */
  async each(selector: VectorSelector, selection: Selection, visit: (series: RawSeries) => void): Promise<void> {
    const shared = this.#shared.take(selector);
    if (shared === undefined) {
      await this.#read(selection, visit);
      return;
    }
    if (shared.series === null || !isSame(shared.selection, selection)) await this.#readForOthers(shared, selection, visit);
    else
      for (const series of shared.series) {
        this.#checkpoint();
        this.read += weightOfRaw(series);
        visit(series);
      }
    if (shared.left > 0) return;
    shared.series = null;
    this.release(shared.held);
    shared.held = 0;
  }

  /** Reads series, and keeps all of them unless that takes too much. */
  async #readForOthers(shared: SharedRead, selection: Selection, visit: (series: RawSeries) => void): Promise<void> {
    this.release(shared.held);
    Object.assign(shared, { series: null, held: 0 });
    let kept: RawSeries[] | null = [];
    await this.#read(selection, (series) => {
      visit(series);
      if (kept === null) return;
      shared.held += weightOfRaw(series);
      if (shared.held <= this.#maxSamples / SHARE) {
        kept.push(ownCopy(series));
        this.hold(weightOfRaw(series));
        return;
      }
      this.release(shared.held - weightOfRaw(series));
      shared.held = 0;
      kept = null;
    });
    Object.assign(shared, { series: kept, selection });
  }

  async #read(selection: Selection, visit: (series: RawSeries) => void): Promise<void> {
    const one = (series: RawSeries): void => {
      this.#checkpoint();
      const size = weightOfRaw(series);
      this.read += size;
      this.hold(size);
      visit(series);
      this.release(size);
    };
    this.#checkpoint();
    const series = this.source.select(selection);
    if (Symbol.asyncIterator in series) for await (const found of series) one(found);
    else for (const found of series) one(found);
  }

  /** Labels of a series whose name goes. */
  unnamed({ labels, dropName }: { readonly labels: Labels; readonly dropName: boolean }): {
    readonly labels: Labels;
    readonly dropName: boolean;
  } {
    return this.isNameDelayed ? { labels, dropName: true } : { labels: withoutName(labels), dropName };
  }
}

/** A source may use again what it gave. */
const ownCopy = (series: RawSeries): RawSeries => ({ ...series, timestamps: series.timestamps.slice(), values: series.values.slice() });

const isSame = (one: Selection | null, other: Selection): boolean => one?.after === other.after && one.until === other.until;

const weightOfRaw = ({ timestamps, histograms }: RawSeries): number =>
  timestamps.length + (histograms?.reduce((sum, own) => sum + (own === undefined ? 0 : weightOf(own)), 0) ?? 0);

const sizeOf = (series: StepSeries): number =>
  series.values.length + (series.histograms?.reduce((sum, own) => sum + (own === undefined ? 0 : weightOf(own)), 0) ?? 0);

/** Series of the same labels as one. Throws where two of them have a sample at one step, or (`strict`) wherever there are two. */
export function mergeSame(series: StepSeries[], isStrict = false): StepSeries[] {
  const byKey = new Map<string, StepSeries>();
  for (const one of series) {
    const known = byKey.get(one.labels.key);
    if (known === undefined) {
      byKey.set(one.labels.key, one);
      continue;
    }
    if (isStrict) throw new PromqlExecutionError(SAME_LABELS);
    for (let step = 0; step < one.kinds.length; step += 1) {
      if (one.kinds[step] === ABSENT) continue;
      if (known.kinds[step] !== ABSENT) throw new PromqlExecutionError(SAME_LABELS);
      known.copyFrom(one, step);
    }
  }
  return byKey.size === series.length ? series : [...byKey.values()];
}

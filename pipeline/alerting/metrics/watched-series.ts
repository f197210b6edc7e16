import type { Finding } from '../../detectors/detector.ts';
import { valueDetectors, type PointDetector, type PointSeries } from '../../detectors/point-series.ts';
import { labelsText, type Labels } from '../../samples/definition.ts';
import { RULE } from '../book/alert.ts';
import type { ReadMetricRule } from './metric-rule.ts';

/** Values of a series that are shown with an alert. */
const SHOWN = 60;
/** A series without a value for so long is forgotten. Minutes, and steps at least. */
const FORGET = 1440;
const FORGET_STEPS = 24;
/** What a series takes in a snapshot beside its labels. Bytes, about. */
const SERIES_BYTES = 7 * 1024;

const found = valueDetectors.find('anomaly');
if (found === undefined) throw new Error('BUG: there is no detector of values.');
const detector: PointDetector = found;

/** What fires of a series: since when, milliseconds, and the value that was reported last. */
export type FiringSeries = { readonly since: number; readonly value: number };

type Written = readonly [Labels, number, string, readonly (number | null)[], FiringSeries | null];

/** What a series takes, about. Bytes. */
export const seriesBytes = (labels: Labels): number => SERIES_BYTES + labelsText(labels).length;

/** A series that a rule gives, which a detector compares with its own past. */
export class WatchedSeries {
  readonly labels: Labels;
  readonly #series: PointSeries;
  readonly #recent: (number | null)[];
  /** The minute of the last value. */
  #seenAt: number;
  #firing: FiringSeries | null;

  constructor(
    labels: Labels,
    step: number,
    minute: number,
    kept: { readonly series?: PointSeries; readonly recent?: readonly (number | null)[]; readonly firing?: FiringSeries | null } = {},
  ) {
    const { series = detector.newSeries(step), recent = [], firing = null } = kept;
    [this.labels, this.#series, this.#seenAt, this.#recent, this.#firing] = [labels, series, minute, [...recent], firing];
  }

  /** The values of the last steps, the newest last. */
  get recent(): readonly (number | null)[] {
    return this.#recent;
  }

  /** Null while it does not fire. */
  get firing(): FiringSeries | null {
    return this.#firing;
  }

  /** Whether it had no value for so long that it is forgotten. */
  isOver(minute: number, step: number): boolean {
    return minute - this.#seenAt > Math.max(FORGET, FORGET_STEPS * step);
  }

  /** Takes the value of the step that begins with a minute; null, and what is no number, for none. Gives what is to be reported. */
  take(minute: number, given: number | null, { side, factor }: ReadMetricRule): Finding | null {
    const value = given !== null && Number.isFinite(Math.fround(given)) ? given : null;
    this.#recent.push(value);
    if (this.#recent.length > SHOWN) this.#recent.shift();
    if (value !== null) this.#seenAt = minute;
    const finding = this.#series.add({ minute, value, entries: 0, errors: 0 }, factor).at(-1);
    if (finding === undefined || (side !== null && finding.side !== side)) return null;
    const since = this.#firing?.since ?? (finding.window.end + 1) * 60_000;
    this.#firing = finding.state === 'firing' ? { since, value: finding.value } : null;
    return { ...finding, detector: RULE };
  }

  toJSON(): unknown {
    return [this.labels, this.#seenAt, this.#series.snapshot().toString('base64'), this.#recent, this.#firing] satisfies Written;
  }

  /** What `toJSON` gave; throws where it is anything else. */
  static from(json: unknown): WatchedSeries {
    const [labels, seenAt, kept, recent, firing] = json as Written;
    const series = detector.restoreSeries(Buffer.from(kept, 'base64'));
    if (series === null) throw new TypeError('This is not a state of a watched series.');
    return new WatchedSeries(labels, 1, seenAt, { series, recent, firing });
  }
}

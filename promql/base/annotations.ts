/** What a user should know of a result that is not an error: warnings and infos, worded as Prometheus words them. */
import { quote } from '../values/labels.ts';
import { shortNumber } from '../values/numbers.ts';
import { positionText, type Range } from './errors.ts';

export type Severity = 'warning' | 'info';

/** A note, without its position. */
export type Note = { readonly severity: Severity; readonly text: string };

const warning = (text: string): Note => ({ severity: 'warning', text: `PromQL warning: ${text}` });
const info = (text: string): Note => ({ severity: 'info', text: `PromQL info: ${text}` });
const ofMetric = (text: string, name: string): string => (name === '' ? text : `${text} for metric name ${quote(name)}`);

/** What two histograms met in. */
export type Operation = 'addition' | 'subtraction' | 'aggregation';

/** Every note that there is. */
export const NOTES = {
  invalidQuantile: (value: number) => warning(`quantile value should be between 0 and 1, got ${shortNumber(value)}`),
  invalidRatio: (value: number, cap: number) =>
    warning(`ratio value should be between -1 and 1, got ${shortNumber(value)}, capping to ${shortNumber(cap)}`),
  badBucketLabel: (name: string, value: string) =>
    warning(ofMetric(`bucket label "le" is missing or has a malformed value of ${quote(value)}`, name)),
  mixedFloatsHistograms: (name: string) => warning(`encountered a mix of histograms and floats for metric name ${quote(name)}`),
  mixedInAggregation: () => warning('encountered a mix of histograms and floats for aggregation'),
  mixedClassicNative: (name: string) => warning(ofMetric('vector contains a mix of classic and native histograms', name)),
  notCounter: (name: string) => warning(`this native histogram metric is not a counter: ${quote(name)}`),
  notGauge: (name: string) => warning(`this native histogram metric is not a gauge: ${quote(name)}`),
  mixedSchemas: (name: string) =>
    warning(`vector contains a mix of histograms with exponential and custom buckets schemas for metric name ${quote(name)}`),
  incompatibleBuckets: (operator: string) => warning(`incompatible bucket layout encountered for binary operator ${operator}`),
  resetCollision: (operation: Operation) => warning(`conflicting counter resets during histogram ${operation}`),
  ineffectiveSort: () => warning('sort is ineffective for range queries since results are always ordered by labels'),
  possibleNonCounter: (name: string) =>
    info(`metric might not be a counter, name does not end in _total/_sum/_count/_bucket: ${quote(name)}`),
  forcedMonotonicity: (name: string, detail: string) =>
    info(
      `${ofMetric('input to histogram_quantile needed to be fixed for monotonicity (see https://prometheus.io/docs/prometheus/latest/querying/functions/#histogram_quantile)', name)}${detail}`,
    ),
  incompatibleTypes: (left: string, operator: string, right: string) =>
    info(`incompatible sample types encountered for binary operator ${quote(operator)}: ${left} ${operator} ${right}`),
  ignoredInAggregation: (aggregation: string) => info(`ignored histogram in ${aggregation} aggregation`),
  ignoredInRange: (name: string) =>
    info(`ignored histograms in a range containing both floats and histograms for metric name ${quote(name)}`),
  quantileOfNaN: (name: string) => info(ofMetric('input to histogram_quantile has NaN observations, result is NaN', name)),
  quantileSkewed: (name: string) => info(ofMetric('input to histogram_quantile has NaN observations, result is skewed higher', name)),
  fractionWithoutNaN: (name: string) =>
    info(ofMetric('input to histogram_fraction has NaN observations, which are excluded from all fractions', name)),
  reconciledBounds: (operation: Operation) => info(`mismatched custom buckets were reconciled during ${operation}`),
} as const;

/** The notes of an evaluation, each once. */
export class Annotations {
  readonly #notes = new Map<string, Note>();
  readonly #query: string;

  constructor(query: string) {
    this.#query = query;
  }

  /** Adds a note about a part of the query. */
  add(note: Note, { from }: Range): void {
    const text = `${note.text} (${positionText(this.#query, from)})`;
    if (!this.#notes.has(text)) this.#notes.set(text, { ...note, text });
  }

  /** Texts of one severity. */
  texts(severity: Severity): readonly string[] {
    return [...this.#notes.values()].filter((note) => note.severity === severity).map(({ text }) => text);
  }
}

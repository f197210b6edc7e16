import { readJson } from '../../core/read-json.ts';
import type { Labels } from '../../samples/definition.ts';

/** Whose partials results of evaluations are (`partials.v1`). */
export const METRIC_EVALUATIONS = 'metric-evaluations';
/** Series that a rule may give: alerts, and what is recorded; and bytes of all of them. */
export const MOST_ALERTS = 100;
export const MOST_RECORDED = 500;
export const MOST_RESULT_BYTES = 400_000;
/** Exemplars of a series of a result: the newest. */
export const MOST_EXEMPLARS = 5;
/** Characters of an error that are kept. */
const MAX_ERROR = 500;

/** A sample that leads to a trace: ids in hexadecimal digits (the span may be empty), its value as text, when (milliseconds), and its metric. */
export type TraceExemplar = {
  readonly trace: string;
  readonly span: string;
  readonly value: string;
  readonly time: number;
  readonly metric: string;
};

/** A series of a result: its labels in their order with those of the rule, its value, and of an alert its annotations and what leads to traces. */
export type EvaluatedSeries = {
  readonly labels: Labels;
  readonly value: number;
  readonly annotations: Labels;
  readonly exemplars: readonly TraceExemplar[];
};

/** What an evaluation of a rule has given. */
export type Evaluated = {
  readonly slot: number;
  /** Of the rule's setting. */
  readonly version: number;
  /** For which time it was evaluated, and how long that took: milliseconds. */
  readonly time: number;
  readonly tookMs: number;
  /** Why it failed; null for nothing. */
  readonly error: string | null;
  readonly series: readonly EvaluatedSeries[];
};

/** How a series stands in the JSON of a result: labels, value, annotations, and exemplars where it has some. */
type Written = readonly [Labels, string, Labels, (readonly unknown[])?];

/** Series as `readEvaluated` reads them. */
export const seriesText = (series: readonly (Omit<EvaluatedSeries, 'exemplars'> & Partial<EvaluatedSeries>)[]): string =>
  JSON.stringify(
    series.map(({ labels, value, annotations, exemplars = [] }): Written => {
      const shown = exemplars.map(({ trace, span, value: own, time, metric }) => [trace, span, own, time, metric]);
      return shown.length === 0 ? [labels, String(value), annotations] : [labels, String(value), annotations, shown];
    }),
  );

/** A result as the value of a record; `series` is what `seriesText` gave. */
export const evaluatedText = ({ slot, version, time, tookMs, error }: Omit<Evaluated, 'series'>, series: string): Buffer => {
  const about = JSON.stringify({ slot, version, time, took: tookMs, error: error === null ? null : error.slice(0, MAX_ERROR) });
  return Buffer.from(`[${about},${series}]`);
};

/** More than the record of a turn has. */
const TURN_BYTES = 32;

/** That a tenant's rules are evaluated from here on, or are not any more, since its plan has no metrics: as the value of a record. */
export const turnText = (isOff: boolean): Buffer => Buffer.from(JSON.stringify([{ metrics: isOff ? 'off' : 'on' }, []]));

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isLabels = (value: unknown): value is Labels =>
  Array.isArray(value) &&
  value.every((pair: unknown) => Array.isArray(pair) && pair.length === 2 && pair.every((text) => typeof text === 'string'));
const isWritten = (value: unknown): value is Written =>
  Array.isArray(value) && isLabels(value[0]) && typeof value[1] === 'string' && isLabels(value[2]);

const isExemplar = (value: unknown): value is [string, string, string, number, string] =>
  Array.isArray(value) && [0, 1, 2, 4].every((at) => typeof value[at] === 'string') && isCount(value[3]);

/** Those of another release may be none here. */
const exemplarsOf = (written: unknown): TraceExemplar[] =>
  (Array.isArray(written) ? (written as unknown[]) : [])
    .filter(isExemplar)
    .slice(0, MOST_EXEMPLARS)
    .map(([trace, span, value, time, metric]) => ({ trace, span, value, time, metric }));

/** What `turnText` gave: whether it is off; null where the value holds anything else. */
export function readTurn(value: Buffer): boolean | null {
  // results are longer, and need not be read twice
  if (value.length > TURN_BYTES) return null;
  try {
    const [about] = readJson(value.toString()) as [Record<string, unknown>];
    return about['metrics'] === 'off' ? true : about['metrics'] === 'on' ? false : null;
  } catch {
    return null;
  }
}

/** Reads a result; null where the value holds none. */
export function readEvaluated(value: Buffer): Evaluated | null {
  try {
    const [about, series] = readJson(value.toString()) as [Record<string, unknown>, unknown];
    const { slot, version, time, took, error } = about;
    if (!isCount(slot) || !isCount(version) || !isCount(time) || !isCount(took)) return null;
    if ((error !== null && typeof error !== 'string') || !Array.isArray(series) || !series.every(isWritten)) return null;
    const read = series.map(([labels, text, annotations, exemplars]) => ({
      ...{ labels, value: Number(text), annotations },
      exemplars: exemplarsOf(exemplars),
    }));
    return { slot, version, time, tookMs: took, error, series: read };
  } catch {
    return null;
  }
}

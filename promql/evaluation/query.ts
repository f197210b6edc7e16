/** Queries: at one time, and over a range of times. */
import { unwrapped, type Expression } from '../base/ast.ts';
import { PromqlRequestError } from '../base/errors.ts';
import { MAX_POINTS } from '../base/limits.ts';
import { FLOAT, StepSeries, type RawSeries } from '../base/series.ts';
import { Windows } from '../functions/windows.ts';
import { typeOf, typeText } from '../parser/check.ts';
import { resolveDuration } from '../parser/durations.ts';
import { parseExpression } from '../parser/parse.ts';
import { compareLabels, Labels, withoutName } from '../values/labels.ts';
import { Evaluator } from './evaluator.ts';
import type { QueryResult, Value } from './result.ts';
import { samplesOf, selectionOf } from './selecting.ts';
import { mergeSame, QueryState, type Options } from './state.ts';

/** A query at one time, in milliseconds. Throws PromqlSyntaxError, PromqlRequestError, PromqlExecutionError. */
export async function instantQuery(query: string, time: number, options: Options): Promise<QueryResult> {
  const expression = parseExpression(query);
  const state = new QueryState(options, query, expression, { start: time, end: time, step: 0 });
  const evaluator = new Evaluator(state, { start: time, interval: 1, count: 1 });
  return withNotes(state, await instantValue(expression, evaluator, time));
}

/** A query over a range of times with a step, all in milliseconds. Throws as `instantQuery` does. */
export async function rangeQuery(query: string, start: number, end: number, step: number, options: Options): Promise<QueryResult> {
  if (end < start) throw new PromqlRequestError('end timestamp must not be before start time');
  if (step <= 0) throw new PromqlRequestError('zero or negative query resolution step widths are not accepted. Try a positive integer');
  if ((end - start) / step > MAX_POINTS)
    throw new PromqlRequestError(
      'exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query resolution (?step=XX)',
    );
  const expression = parseExpression(query);
  const type = typeOf(expression);
  if (type !== 'scalar' && type !== 'vector')
    throw new PromqlRequestError(`invalid expression type "${typeText(type)}" for range query, must be Scalar or instant Vector`);
  const state = new QueryState(options, query, expression, { start, end, step });
  const evaluator = new Evaluator(state, { start, interval: step, count: Math.floor((end - start) / step) + 1 });
  const series = type === 'scalar' ? [await scalarSeries(expression, evaluator)] : named(await evaluator.vector(expression));
  const sorted = series.sort((a, b) => compareLabels(a.labels, b.labels));
  return withNotes(state, { type: 'matrix', series: sorted.map((one) => samplesOf(one, evaluator.times)) });
}

function withNotes(state: QueryState, value: Value): QueryResult {
  const { annotations, read, peak } = state;
  state.end();
  return { value, warnings: annotations.texts('warning'), infos: annotations.texts('info'), read, peak };
}

async function scalarSeries(expression: Expression, evaluator: Evaluator): Promise<StepSeries> {
  const out = StepSeries.constant(Labels.NONE, evaluator.steps.count, 0);
  out.values.set(await evaluator.scalar(expression));
  return out;
}

/** Names go where they were to go at the end. */
function named(series: StepSeries[]): StepSeries[] {
  for (const one of series) if (one.dropName) one.labels = withoutName(one.labels);
  return mergeSame(series);
}

async function instantValue(expression: Expression, evaluator: Evaluator, time: number): Promise<Value> {
  const inner = unwrapped(expression);
  if (inner.kind === 'string') return { type: 'string', time, value: inner.value };
  const type = typeOf(inner);
  if (type === 'scalar') return { type: 'scalar', time, value: (await evaluator.scalar(inner))[0] ?? NaN };
  if (type === 'matrix')
    return { type: 'matrix', series: (await matrixValue(inner, evaluator)).sort((a, b) => compareLabels(a.labels, b.labels)) };
  const samples = named(await evaluator.vector(inner)).map((one) => ({
    labels: one.labels,
    time,
    value: one.kinds[0] === FLOAT ? (one.values[0] ?? NaN) : one.histogramAt(0),
  }));
  return { type: 'vector', samples };
}

/** The samples of a selector's or subquery's window. */
async function matrixValue(expression: Expression, evaluator: Evaluator): Promise<RawSeries[]> {
  if (expression.kind !== 'matrixSelector' && expression.kind !== 'subquery') throw new Error('BUG: a window of what is not a series');
  const { state } = evaluator;
  const times = expression.kind === 'subquery' ? expression : expression.selector;
  const shape = evaluator.windows(times, resolveDuration(expression.window, state.times, false));
  const series: RawSeries[] = [];
  if (expression.kind === 'subquery') {
    for (const one of await evaluator.subquery(expression, shape))
      series.push(one.dropName === true ? { ...one, labels: withoutName(one.labels) } : one);
    return series;
  }
  await state.each(expression.selector, selectionOf(expression.selector, shape), (raw) => {
    const windows = new Windows(raw, shape, { scalars: [], firstRange: expression.range, note: () => undefined });
    const { times: at, values, histogramTimes, histograms } = windows.mixedAt(0);
    state.hold(at.length);
    const all = [
      ...Array.from(at, (time, place) => ({ time, value: values[place] ?? NaN, histogram: undefined })),
      ...histogramTimes.map((time, place) => ({ time, value: 0, histogram: histograms[place] })),
    ].sort((a, b) => a.time - b.time);
    if (all.length === 0) return;
    const found = {
      labels: raw.labels,
      timestamps: Float64Array.from(all, ({ time }) => time),
      values: Float64Array.from(all, ({ value }) => value),
    };
    series.push(histograms.length === 0 ? found : { ...found, histograms: all.map(({ histogram }) => histogram) });
  });
  return series;
}

/** Runs the commands of a promqltest file, and compares answers as Prometheus' own runner does. */
import type { RawSeries } from '../../../promql/base/series.ts';
import { instantQuery, rangeQuery } from '../../../promql/evaluation/query.ts';
import type { QueryResult } from '../../../promql/evaluation/result.ts';
import { compact, type Buckets, type Histogram } from '../../../promql/histograms/histogram.ts';
import { unquote } from '../../../promql/parser/unquote.ts';
import { readDuration } from '../../../promql/values/durations.ts';
import { BUCKET, METRIC_NAME, type Labels } from '../../../promql/values/labels.ts';
import { readNumber } from '../../../promql/values/numbers.ts';
import { MemorySource, rawSeries, type Sample } from '../memory-source.ts';
import { readFile, type Evaluation, type Load } from './file.ts';
import type { Value } from './series.ts';

/** An evaluation that went wrong. */
export type Fault = { readonly line: number; readonly query: string; readonly reason: string };
export type Score = { readonly passed: number; readonly all: number; readonly faults: readonly Fault[] };

type Stored = Map<string, { readonly labels: Labels; readonly samples: Map<number, Sample> }>;

/** Runs a file. */
export async function runFile(content: string): Promise<Score> {
  const stored: Stored = new Map();
  let source = new MemorySource([]);
  const faults: Fault[] = [];
  let all = 0;
  for (const command of readFile(content)) {
    if (command.kind === 'clear') stored.clear();
    if (command.kind === 'load') load(command, stored);
    if (command.kind !== 'eval') {
      source = new MemorySource(
        [...stored.values()].map(({ labels, samples }) =>
          rawSeries(
            labels,
            [...samples].sort(([a], [b]) => a - b),
          ),
        ),
      );
      continue;
    }
    all += 1;
    const reason = await evaluate(command, source);
    if (reason !== null) faults.push({ line: command.line, query: command.query, reason });
  }
  return { passed: all - faults.length, all, faults };
}

function store(stored: Stored, labels: Labels, time: number, sample: Sample): void {
  const series = stored.get(labels.key) ?? { labels, samples: new Map<number, Sample>() };
  stored.set(labels.key, series);
  series.samples.set(time, sample);
}

function load({ stepMs, series, hasNhcb }: Load, stored: Stored): void {
  const classic = new Map<string, { readonly labels: Labels; readonly parts: Map<number, Map<number, number>> }>();
  for (const { labels, values, isStart } of series) {
    if (isStart) continue;
    values.forEach(({ sample }, at) => {
      if (sample !== undefined) store(stored, labels, at * stepMs, sample);
    });
    if (!hasNhcb) continue;
    const name = labels.metricName;
    const base = name.replace(/_(bucket|sum|count)$/, '');
    const kind = name.slice(base.length);
    if (kind === '') continue;
    const bound = kind === '_bucket' ? (readNumber(labels.get(BUCKET)) ?? NaN) : kind === '_sum' ? -1e308 : 1e308;
    const own = labels.without(new Set([BUCKET])).with(METRIC_NAME, base);
    const found = classic.get(own.key) ?? { labels: own, parts: new Map<number, Map<number, number>>() };
    classic.set(own.key, found);
    values.forEach(({ sample }, at) => {
      if (typeof sample !== 'number') return;
      const time = at * stepMs;
      const parts = found.parts.get(time) ?? new Map<number, number>();
      found.parts.set(time, parts);
      parts.set(bound, sample);
    });
  }
  for (const { labels, parts } of classic.values())
    for (const [time, bounds] of parts) {
      const histogram = customHistogram(bounds);
      if (histogram !== null) store(stored, labels, time, histogram);
    }
}

/** Cumulative counts by bound as a histogram of custom buckets. */
function customHistogram(bounds: ReadonlyMap<number, number>): Histogram | null {
  const sorted = [...bounds].filter(([bound]) => Math.abs(bound) !== 1e308).sort(([a], [b]) => a - b);
  if (sorted.some(([bound]) => Number.isNaN(bound))) return null;
  const count = bounds.get(1e308) ?? bounds.get(Infinity) ?? sorted.at(-1)?.[1] ?? 0;
  const custom = sorted.map(([bound]) => bound).filter((bound) => bound !== Infinity);
  let before = 0;
  const counts: number[] = [];
  for (const [bound, total] of [...sorted.filter(([own]) => own !== Infinity), [Infinity, count] as const]) {
    void bound;
    if (total < before) return null;
    counts.push(total - before);
    before = total;
  }
  const positive: Buckets = { counts, indexes: counts.map((_count, at) => at) };
  const none: Buckets = { counts: [], indexes: [] };
  const sum = bounds.get(-1e308) ?? 0;
  return compact({ schema: -53, zeroThreshold: 0, zeroCount: 0, count, sum, positive, negative: none, custom, hint: 'unknown' });
}

/** What is wrong with an evaluation; null where nothing is. */
async function evaluate(command: Evaluation, source: MemorySource): Promise<string | null> {
  const options = { source, isNameDelayed: true };
  const { start, end, step } = command.times;
  const mayFail = command.expectations.filter(({ what }) => what === 'fail');
  let result: QueryResult;
  try {
    result = command.isInstant
      ? await instantQuery(command.query, start, options)
      : await rangeQuery(command.query, start, end, step, options);
  } catch (error) {
    if (!(error instanceof Error) || error.message.startsWith('BUG')) return String(error);
    if (mayFail.length === 0) return `failed: ${error.message}`;
    return mayFail.every((one) => fits(one.match, one.text, error.message)) ? null : `failed otherwise: ${error.message}`;
  }
  if (mayFail.length > 0) return 'did not fail';
  const wrong = notes(command, 'warn', result.warnings) ?? notes(command, 'info', result.infos) ?? compare(command, result);
  if (wrong !== null || !command.isInstant) return wrong;
  return inRange(command, result, source);
}

/** The same in the middle of a range query. */
async function inRange(command: Evaluation, result: QueryResult, source: MemorySource): Promise<string | null> {
  const isPlain = result.value.type === 'vector' || result.value.type === 'scalar';
  if (!isPlain || command.expectations.some(({ what }) => what === 'ordered') || /\b(?:range|step|start|end)\(\)/i.test(command.query))
    return null;
  const { start } = command.times;
  const options = { source, isNameDelayed: true };
  let range: QueryResult;
  try {
    range = await rangeQuery(command.query, start - 60_000, start + 60_000, 60_000, options);
  } catch (error) {
    // neighbouring steps may have what cannot be evaluated
    return error instanceof Error && error.message.startsWith('BUG') ? error.message : null;
  }
  if (range.value.type !== 'matrix') return 'a range query gives a matrix';
  const samples = range.value.series.flatMap((series) => {
    const at = series.timestamps.indexOf(start);
    return at < 0 ? [] : [{ labels: series.labels, value: series.histograms?.[at] ?? series.values[at] ?? NaN }];
  });
  const wrong = compareSamples(command, samples, false);
  return wrong === null ? null : `in a range: ${wrong}`;
}

const fits = (match: 'any' | 'msg' | 'regex', text: string, found: string): boolean =>
  match === 'any' || (match === 'msg' ? found === text : new RegExp(text).test(found));

function notes(command: Evaluation, what: 'warn' | 'info', found: readonly string[]): string | null {
  const expected = command.expectations.filter((one) => one.what === what);
  if (command.expectations.some((one) => one.what === `no_${what}`) && found.length > 0) return `${what}: ${found.join('; ')}`;
  for (const one of expected)
    if (!found.some((text) => fits(one.match, one.text, text))) return `no ${what} like "${one.text}", but: ${found.join('; ')}`;
  const other = expected.length === 0 ? undefined : found.find((text) => !expected.some((one) => fits(one.match, one.text, text)));
  return other === undefined ? null : `${what}: ${other}`;
}

function compare(command: Evaluation, { value }: QueryResult): string | null {
  if (value.type === 'string') {
    const expected = command.expectations.find(({ what }) => what === 'string')?.text ?? '';
    return unquote(expected) === value.value ? null : `string ${value.value}`;
  }
  if (value.type === 'scalar') return compareSamples(command, [{ labels: undefined, value: value.value }], false);
  if (value.type === 'vector')
    return compareSamples(
      command,
      value.samples,
      command.expectations.some(({ what }) => what === 'ordered'),
    );
  return compareMatrix(command, value.series);
}

function compareSamples(
  command: Evaluation,
  samples: readonly { readonly labels: Labels | undefined; readonly value: number | Histogram }[],
  isOrdered: boolean,
): string | null {
  if (samples.length !== command.series.length)
    return `${String(samples.length)} samples: ${samples.map(({ labels, value }) => `${String(labels)} ${show(value)}`).join('; ')}`;
  for (const [at, { labels, values }] of command.series.entries()) {
    const found = isOrdered ? samples[at] : samples.find((one) => (one.labels?.key ?? '') === labels.key);
    if (found === undefined || (found.labels?.key ?? '') !== labels.key)
      return `no ${labels.toString()}, but ${samples.map((one) => String(one.labels)).join('; ')}`;
    const [value] = values;
    if (value === undefined || !same(value, found.value)) return `${labels.toString()} is ${show(found.value)}, not ${show(value?.sample)}`;
  }
  return null;
}

function compareMatrix(command: Evaluation, series: readonly RawSeries[]): string | null {
  const found = command.expectations.find(({ what }) => what === 'range vector');
  const [, from, , step] = /from (\S+) to (\S+) step (\S+)/.exec(found?.text ?? '') ?? [];
  const start = from === undefined ? command.times.start : time(from);
  const interval = step === undefined ? command.times.step : time(step);
  if (series.length !== command.series.length)
    return `${String(series.length)} series: ${series.map(({ labels }) => labels.toString()).join('; ')}`;
  for (const { labels, values } of command.series) {
    const own = series.find((one) => one.labels.key === labels.key);
    if (own === undefined) return `no ${labels.toString()}, but ${series.map((one) => one.labels.toString()).join('; ')}`;
    const present = values.flatMap((value, at) => (value.sample === undefined ? [] : [{ at: start + at * interval, value }]));
    if (present.length !== own.timestamps.length)
      return `${labels.toString()} has ${String(own.timestamps.length)} samples, not ${String(present.length)}: ${Array.from(own.timestamps, (at, place) => `${String(at)}:${show(own.histograms?.[place] ?? own.values[place])}`).join(' ')}`;
    for (const [place, { at, value }] of present.entries()) {
      const sample = own.histograms?.[place] ?? own.values[place] ?? NaN;
      if (own.timestamps[place] !== at || !same(value, sample))
        return `${labels.toString()} at ${String(own.timestamps[place])} is ${show(sample)}, not ${show(value.sample)} at ${String(at)}`;
    }
  }
  return null;
}

const time = (text: string): number => (/^[\d.]+$/.test(text) ? Number(text) * 1000 : (readDuration(text) ?? NaN));
const show = (value: Sample | undefined): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));

/** Almost equal, as Prometheus compares: by a millionth of both. */
function near(a: number, b: number): boolean {
  if (Number.isNaN(a) && Number.isNaN(b)) return true;
  if (a === b) return true;
  const difference = Math.abs(a - b);
  const sum = Math.abs(a) + Math.abs(b);
  if (a === 0 || b === 0 || sum < 2.2250738585072014e-308) return difference < 1e-6 * 2.2250738585072014e-308;
  return difference / Math.min(sum, Number.MAX_VALUE) < 1e-6;
}

function same({ sample, hasHint }: Value, found: number | Histogram): boolean {
  if (typeof sample === 'number' || typeof found === 'number')
    return typeof sample === 'number' && typeof found === 'number' && near(sample, found);
  if (typeof sample !== 'object') return false;
  const [a, b] = [compact(sample), compact(found)];
  const buckets = (left: Buckets, right: Buckets): boolean =>
    left.indexes.length === right.indexes.length &&
    left.indexes.every((index, at) => index === right.indexes[at] && near(left.counts[at] ?? 0, right.counts[at] ?? 0));
  return (
    a.schema === b.schema &&
    near(a.count, b.count) &&
    near(a.sum, b.sum) &&
    near(a.zeroCount, b.zeroCount) &&
    near(a.zeroThreshold, b.zeroThreshold) &&
    a.custom.length === b.custom.length &&
    a.custom.every((bound, at) => bound === b.custom[at]) &&
    buckets(a.positive, b.positive) &&
    buckets(a.negative, b.negative) &&
    (!hasHint || a.hint === b.hint)
  );
}

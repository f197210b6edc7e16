import { parseStream } from '../../pipeline/core/labels.ts';
import { textOf } from '../../pipeline/core/entry.ts';
import { HttpError } from '../../pipeline/core/errors.ts';
import { parseTime } from '../../pipeline/core/time.ts';
import { parseQuery } from '../../logsql/parser/parser.ts';
import type { RawSeries } from '../../promql/base/series.ts';
import type { Selection } from '../../promql/base/source.ts';
import { CUSTOM_SCHEMA, type Histogram } from '../../promql/histograms/histogram.ts';
import { Labels, METRIC_NAME } from '../../promql/values/labels.ts';
import { matchesAll, type Matcher } from '../../promql/values/matcher.ts';
import { rowsOf, type Deps, type Request } from '../query/deps.ts';
import { retentionFloor } from '../query/window.ts';
import { operationMinutes, type OperationMinute } from '../traces/operation-minutes.ts';
import { KINDS } from '../traces/parameters.ts';

/** Whole minutes: the first one and the one behind the last, milliseconds. */
type Minutes = { readonly start: number; readonly end: number };
type Sample = { readonly labels: Labels; readonly time: number; readonly value: number | Histogram };

/** A metric that is read out of what is counted of logs and spans, and stored nowhere else. */
export type DerivedMetric = { readonly name: string; readonly kind: 'counter' | 'histogram'; readonly help: string; readonly unit: string };
type Reader = DerivedMetric & {
  read(name: string, minutes: Minutes, wanted: readonly Matcher[], request: Request, deps: Deps): Promise<Sample[]>;
};

const [MINUTE_MS, MS_NS, NS] = [60_000, 1_000_000n, 1e-9];
const BINS_OF_OCTAVE = 8;
/** Upper bounds of the bins of durations, in seconds. */
const BOUNDS = Array.from({ length: 64 * BINS_OF_OCTAVE + 1 }, (_none, bin) => (bin === 0 ? 0 : 2 ** ((bin - 1) / BINS_OF_OCTAVE) * NS));

const ofSpans = (
  name: string,
  kind: DerivedMetric['kind'],
  help: string,
  unit: string,
  valueOf: (one: OperationMinute) => number | Histogram,
): Reader => ({
  ...{ name, kind, help, unit },
  read: (_name, minutes, wanted, request, deps) => spanSamples(name, kind === 'histogram', minutes, wanted, valueOf, request, deps),
});

const READERS: readonly Reader[] = [
  {
    ...{ name: 'logs_entries_total', kind: 'counter', unit: '', help: 'Entries of the log by level, each minute.' },
    read: (name, minutes, _wanted, request, deps) => entrySamples(name, false, minutes, request, deps),
  },
  {
    ...{ name: 'logs_stream_entries_total', kind: 'counter', unit: '', help: 'Entries of each stream of the log by level, each minute.' },
    read: (name, minutes, _wanted, request, deps) => entrySamples(name, true, minutes, request, deps),
  },
  ofSpans('traces_span_requests_total', 'counter', 'Spans by service, operation and kind, each minute.', '', ({ spans }) => spans),
  ofSpans('traces_span_errors_total', 'counter', 'Failed spans by service, operation and kind, each minute.', '', ({ errors }) => errors),
  ofSpans(
    'traces_span_duration_seconds',
    'histogram',
    'Durations of spans by service, operation and kind, each minute.',
    'seconds',
    durationsOf,
  ),
];

/** What is derived, by name. */
export const DERIVED: ReadonlyMap<string, DerivedMetric> = new Map(READERS.map((one) => [one.name, one]));

/**
 * The series of a selector that names a derived metric; null where it names none. Each sample is what a minute has, at the minute's end: a delta, so
 * that `rate` and `increase` add it.
 */
export async function derivedSeries({ matchers, after, until }: Selection, request: Request, deps: Deps): Promise<RawSeries[] | null> {
  const name = matchers.find((matcher) => matcher.name === METRIC_NAME && matcher.type === '=')?.value;
  const reader = READERS.find((one) => one.name === name);
  if (reader === undefined) return null;
  const floor = retentionFloor(deps.now(), request.retentionDays);
  const first = Math.floor((after - MINUTE_MS) / MINUTE_MS) * MINUTE_MS + MINUTE_MS;
  const start = floor === null ? first : Math.max(first, Math.ceil(Number(floor / MS_NS) / MINUTE_MS) * MINUTE_MS);
  const end = Math.floor(until / MINUTE_MS) * MINUTE_MS;
  if (start >= end) return [];
  const samples = await reader.read(reader.name, { start, end }, matchers, request, deps);
  const bySeries = new Map<string, Sample[]>();
  for (const sample of samples) {
    if (!matchesAll(sample.labels, matchers)) continue;
    const own = bySeries.get(sample.labels.key);
    if (own === undefined) bySeries.set(sample.labels.key, [sample]);
    else own.push(sample);
  }
  return [...bySeries.values()].map(seriesOf);
}

function seriesOf(samples: Sample[]): RawSeries {
  samples.sort((a, b) => a.time - b.time);
  const [{ labels, value }] = samples as [Sample];
  const timestamps = Float64Array.from(samples, ({ time }) => time);
  const values = Float64Array.from(samples, (own) => (typeof own.value === 'number' ? own.value : own.value.sum));
  const histograms = samples.map((own) => (typeof own.value === 'number' ? undefined : own.value));
  return { labels, timestamps, values, isDelta: true, ...(typeof value === 'number' ? {} : { histograms }) };
}

/** Entries by minute and level, and maybe by stream. */
async function entrySamples(name: string, byStream: boolean, { start, end }: Minutes, request: Request, deps: Deps): Promise<Sample[]> {
  const query = parseQuery(`* | stats by (_time:1m, ${byStream ? '_stream, ' : ''}level) count() as entries`, { now: deps.now() });
  const window = { start: BigInt(start) * MS_NS, end: BigInt(end) * MS_NS - 1n, now: deps.now() };
  const rows = await rowsOf(query, window, request, deps);
  const labels = new Map<string, Labels>();
  const merged = new Map<string, Sample>();
  for (const row of rows) {
    const [stream, level] = [byStream ? textOf(row.get('_stream')) : '', textOf(row.get('level'))];
    const key = JSON.stringify([stream, level]);
    const own = labels.get(key) ?? labelsOf(name, stream, level);
    labels.set(key, own);
    const time = Number((parseTime(textOf(row.get('_time'))) ?? 0n) / MS_NS) + MINUTE_MS;
    // streams may differ in what their labels lose
    const at = `${String(time)} ${own.key}`;
    merged.set(at, { labels: own, time, value: Number(merged.get(at)?.value ?? 0) + Number(textOf(row.get('entries'))) });
  }
  return [...merged.values()];
}

function labelsOf(name: string, stream: string, level: string): Labels {
  const pairs = stream === '' ? [] : [...parseStream(stream)].map(([label, value]) => [plain(label), value] as const);
  return Labels.of([...pairs, ['level', level], [METRIC_NAME, name]]);
}

/** A name as Prometheus' own may be. */
const plain = (name: string): string => name.replaceAll(/[^a-zA-Z0-9_]/g, '_').replace(/^(?=\d)/, '_');

async function spanSamples(
  name: string,
  withDurations: boolean,
  { start, end }: Minutes,
  wanted: readonly Matcher[],
  valueOf: (one: OperationMinute) => number | Histogram,
  request: Request,
  deps: Deps,
): Promise<Sample[]> {
  const services = wanted
    .filter((matcher) => matcher.name === 'service' && matcher.type === '=' && matcher.value !== '')
    .map(({ value }) => value);
  const about = {
    services: services.length === 0 ? null : services,
    kinds: KINDS.map((_kind, number) => number),
    byOperation: true,
    byKind: true,
    withDurations,
  };
  const minutes = await operationMinutes(about, { start: BigInt(start) * MS_NS, end: BigInt(end) * MS_NS - 1n }, request, deps);
  if (minutes === null)
    throw new HttpError(422, 'execution', `${name} has too many operations in this time: name a service, or ask for less time`);
  return minutes.map((one) => ({
    labels: Labels.of([[METRIC_NAME, name], ['service', one.service], ['operation', one.operation], ['kind', KINDS[one.kind] ?? '']]), // prettier-ignore
    time: one.minute * 1000 + MINUTE_MS,
    value: valueOf(one),
  }));
}

/** Durations as a histogram whose buckets are the bins that are counted: no bucket is made of another. */
function durationsOf({ spans, duration, durations }: OperationMinute): Histogram {
  const filled = durations.filter(([, count]) => count > 0);
  return {
    ...{ schema: CUSTOM_SCHEMA, zeroThreshold: 0, zeroCount: 0, count: spans, sum: duration * NS },
    positive: { indexes: filled.map(([bin]) => bin), counts: filled.map(([, count]) => count) },
    negative: { indexes: [], counts: [] },
    custom: BOUNDS,
    hint: 'unknown',
  };
}

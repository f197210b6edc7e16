/** Jaeger's API of span metrics (jaegertracing/jaeger 1.76, http_handler.go and query_parser.go): its parameters, and its JSON of OpenMetrics. */
import { durationQuantile } from '../../../pipeline/core/duration-bins.ts';
import { invalidParameter } from '../../../pipeline/core/errors.ts';
import { formatTime } from '../../../pipeline/core/time.ts';
import type { Deps, Request } from '../../query/deps.ts';
import { goQuoted } from '../go-duration.ts';
import { operationMinutes, type OperationMinute } from '../operation-minutes.ts';
import { KINDS } from '../parameters.ts';
import { envelope, shown } from './operations.ts';
import { millisecondsOf, parseError, timeOf } from './parameters.ts';

const MILLISECOND = 1_000_000n;
const [MINUTE, HOUR_MS, STEP_MS, RATE_MS] = [60, 3_600_000n, 5000n, 600_000n];
/** Points of a series, as Prometheus has it, and of an answer; services of a request. */
const MAX_POINTS = 11_000;
const MAX_ALL_POINTS = 500_000;
const MAX_SERVICES = 100;

/** What is asked for. Times are nanoseconds as digits; `quantile` of latencies alone. */
export type JaegerMetrics = {
  readonly services: readonly string[];
  readonly byOperation: boolean;
  readonly kinds: readonly number[];
  readonly end: string | null;
  readonly lookback: string;
  readonly step: string;
  readonly per: string;
  readonly quantile: number | null;
};

/** The parameters of calls and errors. Throws HttpError 400. */
export function metricsOf(query: URLSearchParams): JaegerMetrics {
  const services = query.getAll('service');
  if (services.length === 0) throw parseError('service', 'please provide at least one service name');
  if (services.length > MAX_SERVICES) throw parseError('service', `there are more than ${String(MAX_SERVICES)} services`);
  const given = {
    ...{ services, byOperation: boolOf(query, 'groupByOperation'), kinds: kindsOf(query), end: timeOf(query, 'endTs', MILLISECOND) },
    lookback: positive(query, 'lookback', HOUR_MS),
    ...{ step: positive(query, 'step', STEP_MS), per: positive(query, 'ratePer', RATE_MS), quantile: null },
  };
  if (BigInt(given.lookback) / BigInt(given.step) >= BigInt(MAX_POINTS))
    throw invalidParameter(`exceeded maximum resolution of ${String(MAX_POINTS)} points per timeseries`);
  return given;
}

/** Those of latencies. Throws HttpError 400. */
export function latenciesOf(query: URLSearchParams): JaegerMetrics {
  const text = query.get('quantile') ?? '';
  const quantile = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : NaN;
  if (Number.isNaN(quantile)) throw parseError('quantile', `strconv.ParseFloat: parsing ${goQuoted(text)}: invalid syntax`);
  if (quantile <= 0 || quantile > 1) throw parseError('quantile', 'please provide a quantile between (0, 1]');
  return { ...metricsOf(query), quantile };
}

const TRUE = ['1', 't', 'T', 'TRUE', 'true', 'True'];
const FALSE = ['0', 'f', 'F', 'FALSE', 'false', 'False'];

function boolOf(query: URLSearchParams, name: string): boolean {
  const text = query.get(name) ?? '';
  if (text === '' || FALSE.includes(text)) return false;
  if (TRUE.includes(text)) return true;
  throw parseError(name, `strconv.ParseBool: parsing ${goQuoted(text)}: invalid syntax`);
}

function kindsOf(query: URLSearchParams): number[] {
  const given = query.getAll('spanKind');
  if (given.length === 0) return [KINDS.indexOf('server')];
  return given.map((text) => {
    const kind = KINDS.indexOf(text as (typeof KINDS)[number]);
    if (kind < 0) throw parseError('spanKind', `unsupported span kind: '${text.slice(0, 80)}'`);
    return kind;
  });
}

/** A length of time in milliseconds, as digits of nanoseconds. */
function positive(query: URLSearchParams, name: string, usual: bigint): string {
  const length = millisecondsOf(query, name, usual);
  if (length <= 0n) throw parseError(name, 'must be positive');
  return String(length * MILLISECOND);
}

/** A family's name and words, and the value of a point by what its minutes have; null for none. */
type Family = {
  readonly name: string;
  readonly help: (given: JaegerMetrics) => string;
  readonly value: (sum: Sum, seconds: number, given: JaegerMetrics) => number | null;
};
type Sum = { spans: number; errors: number; readonly durations: Map<number, number> };

const LATENCIES: Family = {
  name: 'latencies',
  help: ({ quantile }) => `${(quantile ?? 0).toFixed(2)}th quantile latency, grouped by service`,
  // milliseconds
  value: ({ durations }, _seconds, { quantile }) => (durationQuantile(durations, quantile ?? 0) ?? NaN) / 1e6,
};
const CALLS: Family = {
  name: 'call_rate',
  help: () => 'calls/sec, grouped by service',
  value: ({ spans }, seconds) => spans / seconds,
};
const ERRORS: Family = {
  name: 'error_rate',
  help: () => 'error rate, computed as a fraction of errors/sec over calls/sec, grouped by service',
  value: ({ spans, errors }) => errors / spans,
};

export const jaegerLatencies = (given: JaegerMetrics, request: Request, deps: Deps): Promise<string> =>
  family(LATENCIES, given, request, deps);
export const jaegerCalls = (given: JaegerMetrics, request: Request, deps: Deps): Promise<string> => family(CALLS, given, request, deps);
export const jaegerErrors = (given: JaegerMetrics, request: Request, deps: Deps): Promise<string> => family(ERRORS, given, request, deps);

/** The shortest step: what is counted is counted by minute. Milliseconds. */
export const jaegerMinStep = (): Promise<string> => Promise.resolve(envelope(String(1000 * MINUTE)));

async function family(of: Family, given: JaegerMetrics, request: Request, deps: Deps): Promise<string> {
  const end = given.end === null ? deps.now() : BigInt(given.end);
  const start = end - BigInt(given.lookback);
  const per = BigInt(given.per);
  const window = shown(start - per, end, request, deps);
  const { services, kinds, byOperation } = given;
  const wanted = { services, kinds, byOperation, withDurations: given.quantile !== null };
  const minutes = window.start > window.end ? [] : await operationMinutes(wanted, window, request, deps);
  const series = minutes === null ? null : seriesOf(minutes);
  if (series === null || series.size * (Number((end - start) / BigInt(given.step)) + 1) > MAX_ALL_POINTS)
    throw invalidParameter('there are too many operations or points: please choose fewer services, a shorter lookback or a longer step');
  const metrics = [...series].map(([, own]) => ({
    // in the order of their names
    labels: [
      ...(byOperation ? [{ name: 'operation', value: own[0]?.operation ?? '' }] : []),
      { name: 'service_name', value: own[0]?.service ?? '' },
    ],
    metricPoints: pointsOf(own, of, given, { start, end }),
  }));
  const help = of.help(given) + (byOperation ? ' & operation' : '');
  return JSON.stringify({ name: `service_${byOperation ? 'operation_' : ''}${of.name}`, type: 'GAUGE', help, metrics });
}

function seriesOf(minutes: readonly OperationMinute[]): Map<string, OperationMinute[]> {
  const series = new Map<string, OperationMinute[]>();
  for (const one of minutes) {
    const key = JSON.stringify([one.service, one.operation]);
    const own = series.get(key);
    if (own === undefined) series.set(key, [one]);
    else own.push(one);
  }
  return series;
}

type Point = { readonly gaugeValue: { readonly doubleValue: number }; readonly timestamp: string };

/** A point at each step, of the whole minutes before it; none where nothing came. */
function pointsOf(
  own: readonly OperationMinute[],
  of: Family,
  given: JaegerMetrics,
  { start, end }: { readonly start: bigint; readonly end: bigint },
): Point[] {
  const length = Math.max(1, Math.ceil(Number(BigInt(given.per) / MILLISECOND) / 1000 / MINUTE)) * MINUTE;
  const points: Point[] = [];
  const sum: Sum = { spans: 0, errors: 0, durations: new Map() };
  let [first, next] = [0, 0];
  for (let at = start; at <= end; at += BigInt(given.step)) {
    const until = Math.floor(Number(at / 1_000_000_000n) / MINUTE) * MINUTE;
    for (; next < own.length && (own[next] as OperationMinute).minute < until; next++) add(sum, own[next] as OperationMinute, 1);
    for (; first < next && (own[first] as OperationMinute).minute < until - length; first++) add(sum, own[first] as OperationMinute, -1);
    const value = sum.spans > 0 ? of.value(sum, length, given) : null;
    if (value !== null && !Number.isNaN(value)) points.push({ gaugeValue: { doubleValue: value }, timestamp: formatTime(at) });
  }
  return points;
}

function add(sum: Sum, { spans, errors, durations }: OperationMinute, sign: 1 | -1): void {
  sum.spans += sign * spans;
  sum.errors += sign * errors;
  for (const [bin, count] of durations) sum.durations.set(bin, (sum.durations.get(bin) ?? 0) + sign * count);
}

/** The parameters of Prometheus' query API (https://prometheus.io/docs/prometheus/latest/querying/api/), from the URL and from a form. */
import { HttpError } from '../../pipeline/core/errors.ts';
import type { Arguments } from '../select/arguments.ts';

/** Milliseconds of each unit of a duration, in the order in which they may stand. */
const UNITS: readonly (readonly [unit: string, ms: number])[] = [
  ['y', 31_536_000_000],
  ['w', 604_800_000],
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
];
const DURATION = new RegExp(`^${UNITS.map(([unit]) => `(?:(\\d{1,15})${unit}${unit === 'm' ? '(?!s)' : ''})?`).join('')}$`);
const NUMBER = /^[-+]?(?:\d{1,20}(?:\.\d{0,20})?|\.\d{1,20})(?:e[-+]?\d{1,3})?$/i;
const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[-+]\d\d:\d\d)$/i;
/** Times are in what 64 bits of nanoseconds hold. */
const MOST_SECONDS = 9_223_372_036;

/** A fault of a parameter, in Prometheus' words. */
const wrong = (name: string, reason: string): HttpError =>
  new HttpError(400, 'invalid_parameter', `invalid parameter ${JSON.stringify(name)}: ${reason}`);

/** A time in milliseconds: seconds since 1970 with fractions, or RFC 3339. Null where the parameter is missing. Throws HttpError 400. */
export function timeOf(from: Arguments, name: string): number | null {
  const given = from.get(name) ?? '';
  if (given === '') return null;
  const ms = NUMBER.test(given) ? Math.round(Number(given) * 1000) : RFC3339.test(given) ? Date.parse(given) : NaN;
  if (!(Math.abs(ms) <= MOST_SECONDS * 1000)) throw wrong(name, `cannot parse ${JSON.stringify(given)} to a valid timestamp`);
  return ms;
}

/** A duration in milliseconds: seconds with fractions, or units such as `1h30m`. Null where the parameter is missing. Throws HttpError 400. */
export function durationOf(from: Arguments, name: string): number | null {
  const given = from.get(name) ?? '';
  if (given === '') return null;
  const parts = DURATION.exec(given);
  const ms = NUMBER.test(given)
    ? Number(given) * 1000
    : parts === null
      ? NaN
      : UNITS.reduce((sum, [, unit], index) => sum + unit * Number(parts[index + 1] ?? 0), 0);
  if (!(Math.abs(ms) <= MOST_SECONDS * 1000)) throw wrong(name, `cannot parse ${JSON.stringify(given)} to a valid duration`);
  return Math.round(ms);
}

/** The time that must be given. Throws HttpError 400. */
export function requiredTime(from: Arguments, name: string): number {
  const time = timeOf(from, name);
  if (time === null) throw wrong(name, 'cannot parse "" to a valid timestamp');
  return time;
}

/** The duration that must be given. Throws HttpError 400. */
export function requiredDuration(from: Arguments, name: string): number {
  const duration = durationOf(from, name);
  if (duration === null) throw wrong(name, 'cannot parse "" to a valid duration');
  return duration;
}

/** Most items of an answer; 0 for all. Throws HttpError 400. */
export function limitOf(from: Arguments, name = 'limit'): number {
  const given = from.get(name) ?? '';
  if (given === '') return 0;
  if (!/^\d{1,15}$/.test(given)) throw wrong(name, 'limit must be non-negative');
  return Number(given);
}

/** The expression. Throws HttpError 400. */
export function queryOf(from: Arguments): string {
  const query = from.get('query') ?? '';
  if (query === '') throw wrong('query', 'unknown position: parse error: no expression found in input');
  return query;
}

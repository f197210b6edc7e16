/**
 * The arguments that VictoriaLogs' read paths share (https://docs.victoriametrics.com/victorialogs/querying/#http-api): of the URL
 * and of a form, the form's first.
 */
import { parseDuration, parseUint } from '../../logsql/values/numbers.ts';
import { allOf } from '../../logsql/filters/logic.ts';
import { parseQuery } from '../../logsql/parser/parser.ts';
import { Query } from '../../logsql/base/query.ts';
import { MAX_LENGTH, readTime } from '../../logsql/values/times.ts';
import type { Filter } from '../../logsql/base/types.ts';
import { invalidBody, invalidParameter } from '../../pipeline/core/errors.ts';
import { MAX_TIME, MIN_TIME, formatTime } from '../../pipeline/core/time.ts';
import type { Exchange } from '../http/exchange.ts';
import { readMultipart } from '../http/multipart.ts';
import { planOptions, type Deps, type Request } from '../query/deps.ts';
import { retentionFloor, type Window } from '../query/window.ts';
import type { PlanOptions } from '../../logsql/planner/planner.ts';
import { extraFilters } from './extra-filters.ts';

/** Arguments by name; of one that is repeated the first counts, unless all are read. */
export type Arguments = Pick<URLSearchParams, 'get' | 'getAll'>;

/** Most arguments of a request. */
const MAX_ARGUMENTS = 1000;

/**
 * Reads the arguments of a request: of the URL, and of a form (`application/x-www-form-urlencoded`, `multipart/form-data`), the
 * form's first. A body of another type is not looked at. Throws HttpError 413 and 400.
 */
export async function readArguments(exchange: Exchange): Promise<URLSearchParams> {
  const read = exchange.method === 'POST' ? FORMS.get(exchange.contentType) : undefined;
  const form = read === undefined ? [] : await exchange.bodyAs((body) => read(body, exchange.header('content-type')));
  const parameters = new URLSearchParams([...form, ...exchange.query]);
  if (parameters.size > MAX_ARGUMENTS) throw tooMany();
  refuse(parameters);
  return parameters;
}

type Pairs = Iterable<[string, string]>;

const tooMany = (): Error => invalidBody(`A request has at most ${String(MAX_ARGUMENTS)} arguments.`);

/** As URLSearchParams reads it, which takes a hundred milliseconds for a form of many arguments, or of many `+`. */
function urlencoded(body: Buffer): Pairs {
  const text = body.toString('utf8');
  for (let [at, count] = [text.indexOf('&'), 1]; at >= 0; at = text.indexOf('&', at + 1)) if (++count > MAX_ARGUMENTS) throw tooMany();
  return new URLSearchParams(text.replaceAll('+', '%20'));
}

function multipart(body: Buffer, type: string): Pairs {
  const form = readMultipart(body, type);
  if (form === null) throw invalidBody('The body is not a multipart form.');
  return form;
}

const FORMS: ReadonlyMap<string, (body: Buffer, type: string) => Pairs> = new Map([
  ['', urlencoded],
  ['application/x-www-form-urlencoded', urlencoded],
  ['multipart/form-data', multipart],
]);

/** Throws for arguments of later versions of VictoriaLogs that would be wrong to ignore. */
function refuse(parameters: Arguments): void {
  if ((parameters.get('hidden_fields_filters') ?? '') !== '')
    throw invalidParameter('hidden_fields_filters is not supported: no fields can be hidden here.');
  if (parameters.get('format') === 'csv') throw invalidParameter('format=csv is not supported: rows are JSON lines.');
}

/** A query with its window, and what every entry must match in addition to it. */
export type Selection = { readonly query: Query; readonly window: Window; readonly extra: Filter | null };

/**
 * Reads `query`, `start`, `end`, `time`, `extra_filters` and `extra_stream_filters`. Without `start` and `end` all entries are
 * looked at. What is relative in the query counts from `time`, else from `end`, else from now. Throws HttpError 400.
 */
export function readSelection(parameters: Arguments, now: bigint, retentionDays: number): Selection {
  const start = timeOf(parameters, 'start', now);
  const end = timeOf(parameters, 'end', now);
  const at = timeOf(parameters, 'time', now)?.start ?? end?.start ?? now;
  const text = parameters.get('query') ?? '';
  if (text.trim() === '') throw invalidParameter('query is empty; use "*" for all entries.');
  const window = { start: start?.start ?? MIN_TIME, end: end?.end ?? MAX_TIME, now: at };
  if (window.start > window.end) throw invalidParameter(`start (${formatTime(window.start)}) is after end (${formatTime(window.end)}).`);
  const floor = retentionFloor(now, retentionDays);
  return {
    query: parseQuery(text, { now: at }),
    window: floor !== null && window.start < floor ? { ...window, start: floor } : window,
    extra: extraFilters(parameters, at),
  };
}

/** The filter of the query alone, as VictoriaLogs takes it where it queries fields, values and counts. */
export const withoutPipes = ({ query: { options, filter } }: Selection, pipes: Query['pipes']): Query => new Query(options, filter, pipes);

/** The options of a plan for this selection. */
export function selectionOptions({ window, extra }: Selection, request: Request, deps: Deps): PlanOptions {
  const options = planOptions(window, request, deps);
  if (extra === null) return options;
  return { ...options, extra: options.extra === undefined ? extra : allOf([options.extra, extra]) };
}

function timeOf(parameters: Arguments, name: string, now: bigint): { readonly start: bigint; readonly end: bigint } | null {
  const text = (parameters.get(name) ?? '').trim();
  if (text === '') return null;
  const time = readTime(text, now);
  if (time === null) throw invalidParameter(`${name} ${JSON.stringify(text)} is not a valid time.`);
  return { start: clamp(time.start), end: clamp(time.end) };
}

const clamp = (time: bigint): bigint => (time < MIN_TIME ? MIN_TIME : time > MAX_TIME ? MAX_TIME : time);

/** A whole number from 0 on; `fallback` where it is absent, empty or 0. */
export function countOf(parameters: Arguments, name: string, fallback: number): number {
  const text = (parameters.get(name) ?? '').trim();
  if (text === '') return fallback;
  const value = parseUint(text);
  if (value === null) throw invalidParameter(`${name} ${JSON.stringify(text)} is not an integer of at least 0.`);
  return Number(value) || fallback;
}

/** A length of time in nanoseconds: a duration (`1h30m`) or seconds. */
export function durationOf(parameters: Arguments, name: string, fallback: number): number {
  const text = (parameters.get(name) ?? '').trim();
  if (text === '') return fallback;
  const value = /^-?\d{1,12}(?:\.\d{1,9})?$/.test(text) ? Number(text) * 1e9 : parseDuration(text);
  if (value === null || !(Math.abs(value) <= MAX_LENGTH))
    throw invalidParameter(`${name} ${JSON.stringify(text)} is not a duration such as 5m or 1h30m.`);
  return value;
}

/** `step`: a duration above 0, in nanoseconds. A day where it is absent. */
export function stepOf(parameters: Arguments): number {
  const step = Math.trunc(durationOf(parameters, 'step', 86_400e9));
  if (step < 1) throw invalidParameter('step must be above 0.');
  return step;
}

/** A step and where steps begin (nanoseconds), as LogsQL writes a bucket of `_time`. */
export const stepText = (step: number, offset: number): string =>
  `${BigInt(step).toString()}ns${offset === 0 ? '' : ` offset ${BigInt(offset).toString()}ns`}`;

/** Up to this number of rows of `query` are held to be printed oldest first; more, and all of them, are an export. */
export const MAX_HELD = 10_000;

/** How many rows are requested, and how many of the newest are left out. Throws HttpError 400. */
export function readLimit(parameters: Arguments): { readonly limit: number; readonly offset: number } {
  const limit = countOf(parameters, 'limit', Infinity);
  const offset = countOf(parameters, 'offset', 0);
  if (offset > 0 && limit === Infinity) throw invalidParameter('offset needs a limit.');
  return { limit, offset };
}

const FALSE = new Set(['', '0', 'f', 'false', 'no']);

export const isTrue = (parameters: Arguments, name: string): boolean => !FALSE.has((parameters.get(name) ?? '').trim().toLowerCase());

/** `timeout` in milliseconds, undefined where the service's own holds. */
export function timeoutOf(parameters: Arguments): number | undefined {
  const timeout = durationOf(parameters, 'timeout', 0) / 1e6;
  return timeout > 0 ? Math.max(1, Math.ceil(timeout)) : undefined;
}

/**
 * The arguments that VictoriaLogs' read paths share (https://docs.victoriametrics.com/victorialogs/querying/#http-api): of the URL
 * and of a form, the form's first.
 */
import { parseDuration, parseUint } from '../../logsql/numbers.ts';
import { parseQuery } from '../../logsql/parser.ts';
import { Query } from '../../logsql/query.ts';
import { readTime } from '../../logsql/times.ts';
import type { Filter } from '../../logsql/types.ts';
import { invalidParameter } from '../../pipeline/core/errors.ts';
import { MAX_TIME, MIN_TIME, formatTime } from '../../pipeline/core/time.ts';
import { jsonBody } from '../http/body.ts';
import type { Exchange } from '../http/exchange.ts';
import { planOptions, type Deps, type Request } from '../query/deps.ts';
import { retentionFloor, type Window } from '../query/window.ts';
import type { PlanOptions } from '../../logsql/planner.ts';
import { extraFilters } from './extra-filters.ts';

/** Arguments by name; of one that is repeated the first counts, unless all are asked for. */
export type Arguments = Pick<URLSearchParams, 'get' | 'getAll'>;

const FORM_CAPS = jsonBody();
const FORM = 'application/x-www-form-urlencoded';

/** Reads the arguments of a request. A body of another type than a form is not looked at. Throws HttpError 413 and 400. */
export async function readArguments(exchange: Exchange): Promise<Arguments> {
  if (exchange.method !== 'POST' || (exchange.contentType !== FORM && exchange.contentType !== '')) return exchange.query;
  const form = new URLSearchParams((await exchange.bytes(FORM_CAPS)).toString('utf8'));
  return new URLSearchParams([...form, ...exchange.query]);
}

/** A query with its window, and what every entry must match beside it. */
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

/** The filter of the query alone, as VictoriaLogs takes it where it asks for fields, values and counts. */
export const withoutPipes = ({ query: { options, filter } }: Selection, pipes: Query['pipes']): Query => new Query(options, filter, pipes);

/** The options of a plan for this selection. */
export function selectionOptions({ window, extra }: Selection, request: Request, deps: Deps): PlanOptions {
  return { ...planOptions(window, request, deps), ...(extra === null ? {} : { extra }) };
}

function timeOf(parameters: Arguments, name: string, now: bigint): { readonly start: bigint; readonly end: bigint } | null {
  const text = (parameters.get(name) ?? '').trim();
  if (text === '') return null;
  const time = readTime(text, now);
  if (time === null) throw invalidParameter(`${name} ${JSON.stringify(text)} is no time.`);
  return { start: clamp(time.start), end: clamp(time.end) };
}

const clamp = (time: bigint): bigint => (time < MIN_TIME ? MIN_TIME : time > MAX_TIME ? MAX_TIME : time);

/** A whole number from 0 on; `fallback` where it is absent, empty or 0. */
export function countOf(parameters: Arguments, name: string, fallback: number): number {
  const text = (parameters.get(name) ?? '').trim();
  if (text === '') return fallback;
  const value = parseUint(text);
  if (value === null) throw invalidParameter(`${name} ${JSON.stringify(text)} is no whole number from 0 on.`);
  return Number(value) || fallback;
}

/** A thousand years. */
const MAX_DURATION = 1000 * 365 * 86_400e9;

/** A length of time in nanoseconds: a duration (`1h30m`) or seconds. */
export function durationOf(parameters: Arguments, name: string, fallback: number): number {
  const text = (parameters.get(name) ?? '').trim();
  if (text === '') return fallback;
  const value = /^-?\d{1,12}(?:\.\d{1,9})?$/.test(text) ? Number(text) * 1e9 : parseDuration(text);
  if (value === null || !(Math.abs(value) <= MAX_DURATION))
    throw invalidParameter(`${name} ${JSON.stringify(text)} is no duration such as 5m or 1h30m.`);
  return value;
}

/** `step`: a duration above 0, in nanoseconds. A day where it is absent. */
export function stepOf(parameters: Arguments): number {
  const step = Math.trunc(durationOf(parameters, 'step', 86_400e9));
  if (step < 1) throw invalidParameter('step must be above 0.');
  return step;
}

const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE', 'True', 'y', 'yes', 'on']);

export const isTrue = (parameters: Arguments, name: string): boolean => TRUE.has((parameters.get(name) ?? '').trim());

/** `timeout` in milliseconds, undefined where the service's own holds. */
export function timeoutOf(parameters: Arguments): number | undefined {
  const timeout = durationOf(parameters, 'timeout', 0) / 1e6;
  return timeout > 0 ? Math.max(1, Math.ceil(timeout)) : undefined;
}

/** The parameters of Jaeger's query API, and its sentences about wrong ones (jaegertracing/jaeger, jaegerquery/internal/query_parser.go). */
import { invalidParameter } from '../../../pipeline/core/errors.ts';
import { goQuoted, readGoDuration } from '../go-duration.ts';
import { checkedTags, KINDS, MAX_TRACES } from '../parameters.ts';
import type { SpanFilter } from '../span-filter.ts';
import { traceIdOfBase64 } from '../trace-id.ts';
import { readBool, readInt } from './go-words.ts';

/** Nanoseconds as digits; null: now, and two days before the end. */
export type JaegerWindow = { readonly start: string | null; readonly end: string | null };
export type JaegerSearch = JaegerWindow & {
  readonly filter: SpanFilter;
  readonly limit: number;
  readonly ids: readonly string[];
  readonly raw: boolean;
};

const DEFAULT_LIMIT = 100;
/** What Jaeger calls the service of spans that name none. */
export const NO_SERVICE = 'missing-service-name';
const [MICROSECOND, MILLISECOND] = [1000n, 1_000_000n];
const DAY_MS = 86_400_000n;

/** The id of a trace in a path or a parameter: up to 32 hex digits, or base64. Throws HttpError 400. */
export function jaegerIdOf(text: string): string {
  if (/^[0-9a-f]{1,32}$/i.test(text)) return text.toLowerCase().padStart(32, '0');
  const id = traceIdOfBase64(text);
  if (id !== null) return id;
  if (text.length > 32) throw invalidParameter(`TraceID cannot be longer than 32 hex characters: ${text.slice(0, 200)}`);
  throw invalidParameter(`strconv.ParseUint: parsing ${goQuoted(text)}: invalid syntax`);
}

/** A search. Throws HttpError 400. */
export function jaegerSearch(query: URLSearchParams): JaegerSearch {
  const [start, end] = [timeOf(query, 'start', MICROSECOND), timeOf(query, 'end', MICROSECOND)];
  const tags = jaegerTags(query.getAll('tag'), query.getAll('tags'));
  const limit = limitOf(query.get('limit') ?? '');
  const [min, max] = [durationOf(query, 'minDuration'), durationOf(query, 'maxDuration')];
  const raw = rawOf(query);
  const ids = query.getAll('traceID').map(searchedId);
  const service = query.get('service') ?? '';
  if (ids.length === 0 && service === '') throw serviceRequired();
  if (ids.length > MAX_TRACES) throw invalidParameter(`there are more than ${String(MAX_TRACES)} trace IDs`);
  checkLimit(limit);
  if (start !== null && end !== null && BigInt(start) > BigInt(end))
    throw invalidParameter('invalid parameter: start time must be before end time');
  const filter = filterOf({ service, operation: query.get('operation') ?? '', tags, min, max });
  return { ...{ filter, limit, ids, raw }, ...{ start: start ?? lookedBack(query, end), end } };
}

function searchedId(text: string): string {
  try {
    return jaegerIdOf(text);
  } catch (error) {
    throw invalidParameter(`cannot parse traceID param: ${error instanceof Error ? error.message : ''}`);
  }
}

/** One trace, as it was sent where `raw` says so; `start` and `end` say where it may be, which is not needed, but are checked. Throws HttpError 400. */
export function jaegerTraceOf(id: string, query: URLSearchParams): { readonly id: string; readonly raw: boolean } {
  for (const name of ['start', 'end']) timeOf(query, name, MICROSECOND);
  return { id: jaegerIdOf(id), raw: rawOf(query) };
}

function rawOf(query: URLSearchParams): boolean {
  const text = query.get('raw') ?? '';
  const raw = text === '' ? false : readBool(text);
  if (typeof raw === 'string') throw parseError('raw', raw);
  return raw;
}

/** The service that a client of Jaeger names; empty for spans that name none. */
export const serviceOf = (text: string): string => (text === NO_SERVICE ? '' : text);

/** Without a start, where a client names how far back it looks. */
function lookedBack(query: URLSearchParams, end: string | null): string | null {
  const length = readGoDuration(query.get('lookback') ?? '');
  return end === null || typeof length === 'string' || length <= 0 ? null : String(BigInt(end) - BigInt(length));
}

export const serviceRequired = (): Error => invalidParameter("parameter 'service' is required");

/** At most as many as an answer has. Throws HttpError 400. */
export function checkLimit(limit: number, name = 'limit'): void {
  if (limit <= 0) throw invalidParameter(`invalid parameter: ${name} must be greater than 0`);
  if (limit > MAX_TRACES) throw invalidParameter(`invalid parameter: ${name} must not be greater than ${String(MAX_TRACES)}`);
}

/** What spans must be, from parameters in the form of Jaeger: empty ones are not there, a duration of 0 is none. Throws HttpError 400. */
export function filterOf(given: {
  readonly service: string;
  readonly operation: string;
  readonly tags: [string, string][];
  readonly min: number;
  readonly max: number;
}): SpanFilter {
  const { service, operation, tags, min, max } = given;
  if (min !== 0 && max !== 0 && max < min) throw invalidParameter("'maxDuration' should be greater than 'minDuration'");
  return {
    ...{ service: service === '' ? null : serviceOf(service), operation: operation === '' ? null : operation, tags: checkedTags(tags) },
    ...{
      minDuration: min <= 0 ? null : Math.min(min, Number.MAX_SAFE_INTEGER),
      // less than nothing is none; durations that are stored are none less than nothing
      maxDuration: max === 0 ? null : Math.min(max, Number.MAX_SAFE_INTEGER),
    },
    ...{ status: null, kind: null },
  };
}

function limitOf(text: string): number {
  if (text === '') return DEFAULT_LIMIT;
  const limit = readInt(text);
  if (typeof limit === 'string') throw invalidParameter(limit);
  if (limit >= 2n ** 31n || limit < -(2n ** 31n)) throw invalidParameter(`strconv.ParseInt: parsing ${goQuoted(text)}: value out of range`);
  return Number(limit);
}

/** Jaeger's error about a parameter that cannot be read. */
export const parseError = (name: string, why: string): Error => invalidParameter(`unable to parse param '${name}': ${why}`);

/** A time in some unit, as digits of nanoseconds; null for none. Throws HttpError 400. */
export function timeOf(query: URLSearchParams, name: string, unit: bigint): string | null {
  const text = query.get(name) ?? '';
  if (text === '') return null;
  const time = readInt(text);
  if (typeof time === 'string') throw parseError(name, time);
  return String(time * unit);
}

function durationOf(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? '';
  if (text === '') return 0;
  const length = readGoDuration(text);
  if (typeof length === 'string') throw parseError(name, length);
  return length;
}

function jaegerTags(simple: readonly string[], json: readonly string[]): [string, string][] {
  const tags = new Map<string, string>();
  for (const tag of simple) {
    const colon = tag.indexOf(':');
    if (colon < 0) throw invalidParameter(`malformed 'tag' parameter, expecting key:value, received: ${tag.slice(0, 200)}`);
    tags.set(tag.slice(0, colon), tag.slice(colon + 1));
  }
  for (const text of json)
    for (const [name, value] of stringsOf(text, "malformed 'tags' parameter, cannot unmarshal JSON")) tags.set(name, value);
  return [...tags];
}

/** The members of a JSON object of strings. Throws HttpError 400, `what` before the reason. */
export function stringsOf(text: string, what: string): [string, string][] {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (error) {
    throw invalidParameter(`${what}: ${isCutOff(text, error) ? 'unexpected end of JSON input' : `invalid character in ${goQuoted(text)}`}`);
  }
  if (given === null) return [];
  if (typeof given !== 'object' || Array.isArray(given))
    throw invalidParameter(`${what}: json: cannot unmarshal ${goKind(given)} into Go value of type map[string]string`);
  return Object.entries(given).map(([name, value]: [string, unknown]) => {
    if (typeof value !== 'string') throw invalidParameter(`${what}: json: cannot unmarshal ${goKind(value)} into Go value of type string`);
    return [name, value];
  });
}

/** Whether JSON ends before it is whole: where it is wrong is behind its end. */
function isCutOff(text: string, error: unknown): boolean {
  const message = error instanceof Error ? error.message : '';
  return message.startsWith('Unexpected end') || Number(/at position (\d+)/.exec(message)?.[1] ?? -1) >= text.length;
}

const goKind = (value: unknown): string =>
  Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value === 'object' ? 'object' : typeof value;

/** A length of time in milliseconds. Throws HttpError 400. */
export function millisecondsOf(query: URLSearchParams, name: string, usual: bigint): bigint {
  const text = query.get(name) ?? '';
  const length = text === '' ? usual : readInt(text);
  if (typeof length === 'string') throw parseError(name, length);
  return length;
}

/** The window of `/api/dependencies`: its end and how far back, in milliseconds. Throws HttpError 400. */
export function dependencyWindow(query: URLSearchParams): { readonly end: string | null; readonly lookback: string } {
  const end = timeOf(query, 'endTs', MILLISECOND);
  const lookback = millisecondsOf(query, 'lookback', DAY_MS);
  return { end, lookback: String(lookback * MILLISECOND) };
}

/** The kind that operations are to have, as OTLP numbers it; null for any, -1 for one that no span has. */
export const kindOf = (text: string): number | null => (text === '' ? null : KINDS.indexOf(text.toLowerCase() as (typeof KINDS)[number]));

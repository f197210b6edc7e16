/** Jaeger's API v3 (jaegertracing/jaeger, jaegerquery/internal/apiv3): OTLP's JSON, parameters in camel and in snake case. */
import { HttpError, invalidParameter } from '../../../pipeline/core/errors.ts';
import { parseTime } from '../../../pipeline/core/time.ts';
import type { Deps, Request } from '../../query/deps.ts';
import type { EngineAnswer } from '../../query/engine.ts';
import { readGoDuration } from '../go-duration.ts';
import { KINDS } from '../parameters.ts';
import { readTraces } from '../read-traces.ts';
import { otlpPieces } from '../show-trace.ts';
import { traceBounds, type TraceBounds } from '../trace-bounds.ts';
import { badTime, isRfc3339, readInt } from './go-words.ts';
import { operationsOf, searched } from './operations.ts';
import { checkLimit, filterOf, jaegerIdOf, stringsOf, type JaegerSearch } from './parameters.ts';

const JSON_TYPE = { 'Content-Type': 'application/json; charset=utf-8' };
const DEFAULT_DEPTH = 100;

/** A parameter by its first name that is there, and that name. */
function given(query: URLSearchParams, ...names: readonly string[]): readonly [name: string, text: string] {
  const name = names.find((one) => (query.get(one) ?? '') !== '') ?? names[0] ?? '';
  return [name, query.get(name) ?? ''];
}

const malformed = (name: string, why: string): Error => invalidParameter(`malformed parameter ${name}: ${why}`);

/** A time in RFC 3339, as digits of nanoseconds; a plus that came as a space is one. Throws HttpError 400. */
function timeOf(query: URLSearchParams, ...names: readonly string[]): string | null {
  const [name, text] = given(query, ...names);
  if (text === '') return null;
  const written = text.replace(' ', '+');
  const time = isRfc3339(written) ? parseTime(written) : null;
  if (time === null) throw malformed(name, badTime(text));
  return String(time);
}

function durationOf(query: URLSearchParams, ...names: readonly string[]): number {
  const [name, text] = given(query, ...names);
  const length = text === '' ? 0 : readGoDuration(text);
  if (typeof length === 'string') throw malformed(name, length);
  return length;
}

/** A search of traces. Throws HttpError 400. */
export function searchV3(query: URLSearchParams): JaegerSearch {
  const [start, end] = [
    timeOf(query, 'query.startTimeMin', 'query.start_time_min'),
    timeOf(query, 'query.startTimeMax', 'query.start_time_max'),
  ];
  if (start === null || end === null) throw invalidParameter('query.startTimeMin and query.startTimeMax are required');
  const [depthName, depth] = given(query, 'query.searchDepth', 'query.search_depth', 'query.num_traces');
  const limit = depth === '' ? BigInt(DEFAULT_DEPTH) : readInt(depth);
  if (typeof limit === 'string') throw malformed(depthName, limit);
  checkLimit(Number(limit), depthName);
  const [attributesName, attributes] = given(query, 'query.attributes');
  const [, service] = given(query, 'query.serviceName', 'query.service_name');
  const [, operation] = given(query, 'query.operationName', 'query.operation_name', 'query.spanName', 'query.span_name');
  const tags = attributes === '' ? [] : stringsOf(attributes, `malformed parameter ${attributesName}`);
  const [min, max] = [
    durationOf(query, 'query.durationMin', 'query.duration_min'),
    durationOf(query, 'query.durationMax', 'query.duration_max'),
  ];
  return { ...{ start, end, limit: Number(limit), ids: [] }, filter: filterOf({ service, operation, tags, min, max }) };
}

/** A trace by its id; `startTime` and `endTime` say where it may be, which is not needed, but are checked. Throws HttpError 400. */
export function traceV3(id: string, query: URLSearchParams): { readonly id: string } {
  timeOf(query, 'startTime', 'start_time');
  timeOf(query, 'endTime', 'end_time');
  try {
    return { id: jaegerIdOf(id) };
  } catch (error) {
    throw malformed('trace_id', error instanceof Error ? error.message : '');
  }
}

/** Where calls are counted: nanoseconds, as digits. Throws HttpError 400. */
export function dependenciesV3(query: URLSearchParams): { readonly start: string; readonly end: string } {
  const [start, end] = [timeOf(query, 'startTime', 'start_time'), timeOf(query, 'endTime', 'end_time')];
  if (start === null || end === null) throw invalidParameter('startTime and endTime are required');
  return { start, end };
}

/** The kind that operations are to have. */
export const kindV3 = (query: URLSearchParams): string => given(query, 'spanKind', 'span_kind')[1];

export async function operationsV3(
  parameters: { readonly service: string; readonly kind: number | null },
  request: Request,
  deps: Deps,
): Promise<string> {
  const found = await operationsOf(parameters, request, deps);
  return JSON.stringify({ operations: found.map(({ name, kind }) => ({ name, spanKind: kind === 0 ? 'internal' : KINDS[kind] })) });
}

export async function showTraceV3({ id }: { readonly id: string }, request: Request, deps: Deps): Promise<EngineAnswer> {
  return result(await traceBounds([id], request, deps), request, deps);
}

export async function findTracesV3(parameters: JaegerSearch, request: Request, deps: Deps): Promise<EngineAnswer> {
  return result((await searched(parameters, request, deps)).traces, request, deps);
}

/** Spans of some traces as one list. Throws HttpError 404 without any. */
function result(traces: readonly TraceBounds[], request: Request, deps: Deps): EngineAnswer {
  if (traces.length === 0) throw new HttpError(404, 'not_found', 'No traces found');
  return { headers: JSON_TYPE, stream: wrapped(otlpPieces(readTraces(traces, request, deps))) };
}

async function* wrapped(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  yield '{"result":';
  yield* pieces;
  yield '}';
}

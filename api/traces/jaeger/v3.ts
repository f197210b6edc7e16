/** Jaeger's API v3 (jaegertracing/jaeger, jaegerquery/internal/apiv3): OTLP's JSON, parameters in camel and in snake case. */
import { HttpError, invalidParameter } from '../../../pipeline/core/errors.ts';
import { parseTime } from '../../../pipeline/core/time.ts';
import type { Deps, Request } from '../../query/deps.ts';
import type { EngineAnswer } from '../../query/engine.ts';
import { readGoDuration } from '../go-duration.ts';
import { KINDS } from '../parameters.ts';
import { readTraces, type TraceSpans } from '../read-traces.ts';
import { otlpPieces } from '../show-trace.ts';
import type { StoredSpan } from '../stored-span.ts';
import { traceBounds, type TraceBounds } from '../trace-bounds.ts';
import { adjusted, missingParent, type Adjusted } from './adjust.ts';
import { badTime, isRfc3339, readBool, readInt } from './go-words.ts';
import { operationsOf, searched } from './operations.ts';
import { validSpan } from './valid-otlp.ts';
import { checkLimit, filterOf, jaegerIdOf, stringsOf, type JaegerSearch, type JaegerWindow } from './parameters.ts';

const JSON_TYPE = { 'Content-Type': 'application/json; charset=utf-8' };
const DEFAULT_DEPTH = 100;
/** The attribute of Jaeger's warnings, and the type of an array. */
const [WARNINGS, ARRAY] = ['@jaeger@warnings', 'v'];

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

/** Whether spans are to be as they were sent. */
function rawOf(query: URLSearchParams, ...names: readonly string[]): boolean {
  const [name, text] = given(query, ...names);
  const raw = text === '' ? false : readBool(text);
  if (typeof raw === 'string') throw malformed(name, raw);
  return raw;
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
  if (typeof limit === 'string') throw malformed(depthName, limit.replace('ParseInt', 'Atoi'));
  checkLimit(Number(limit), depthName);
  const [attributesName, attributes] = given(query, 'query.attributes');
  const [, service] = given(query, 'query.serviceName', 'query.service_name');
  const [, operation] = given(query, 'query.operationName', 'query.operation_name', 'query.spanName', 'query.span_name');
  const tags = attributes === '' ? [] : stringsOf(attributes, `malformed parameter ${attributesName}`);
  const [min, max] = [
    durationOf(query, 'query.durationMin', 'query.duration_min'),
    durationOf(query, 'query.durationMax', 'query.duration_max'),
  ];
  const raw = rawOf(query, 'query.rawTraces', 'query.raw_traces');
  return { ...{ start, end, limit: Number(limit), ids: [], raw }, filter: filterOf({ service, operation, tags, min, max }) };
}

/** A trace by its id; `startTime` and `endTime` say where it may be, which is not needed, but are checked. Throws HttpError 400. */
export function traceV3(id: string, query: URLSearchParams): { readonly id: string; readonly raw: boolean } {
  timeOf(query, 'startTime', 'start_time');
  timeOf(query, 'endTime', 'end_time');
  const raw = rawOf(query, 'rawTraces', 'raw_traces');
  try {
    return { id: jaegerIdOf(id), raw };
  } catch (error) {
    throw malformed('trace_id', error instanceof Error ? error.message : '');
  }
}

/** The window of dependencies. Throws HttpError 400. */
export const dependenciesWindowV3 = (query: URLSearchParams): JaegerWindow => ({
  start: timeOf(query, 'startTime', 'start_time'),
  end: timeOf(query, 'endTime', 'end_time'),
});

/** The kind that operations are to have. */
export const kindV3 = (query: URLSearchParams): string => given(query, 'spanKind', 'span_kind')[1];

export async function operationsV3(
  parameters: { readonly service: string | null; readonly kind: number | null },
  request: Request,
  deps: Deps,
): Promise<string> {
  const found = await operationsOf(parameters, request, deps);
  return JSON.stringify({ operations: found.map(({ name, kind }) => ({ name, spanKind: kind === 0 ? 'internal' : KINDS[kind] })) });
}

export async function showTraceV3(
  { id, raw }: { readonly id: string; readonly raw: boolean },
  request: Request,
  deps: Deps,
): Promise<EngineAnswer> {
  return result(await traceBounds([id], request, deps), raw, request, deps);
}

export async function findTracesV3(parameters: JaegerSearch, request: Request, deps: Deps): Promise<EngineAnswer> {
  return result((await searched(parameters, request, deps)).traces, parameters.raw, request, deps);
}

/** Spans of some traces as one list. Throws HttpError 404 without any. */
function result(traces: readonly TraceBounds[], raw: boolean, request: Request, deps: Deps): EngineAnswer {
  if (traces.length === 0) throw new HttpError(404, 'not_found', 'No traces found');
  const spans = readTraces(traces, request, deps);
  return { headers: JSON_TYPE, stream: wrapped(otlpPieces(changed(spans, raw))) };
}

/** Traces with what Jaeger changes about their spans and warns of, unless they are held only in part; and all of them as Jaeger UI takes spans. */
async function* changed(traces: AsyncIterable<TraceSpans>, raw: boolean): AsyncGenerator<TraceSpans> {
  for await (const trace of traces) yield { ...trace, spans: changedSpans(trace.spans, raw || !trace.isWhole) };
}

async function* changedSpans(spans: TraceSpans['spans'], asSent: boolean): AsyncGenerator<readonly StoredSpan[]> {
  for await (const some of spans) yield (asSent ? some : adjusted(some, missingParent).map(withWarnings)).map(validSpan);
}

/** Warnings are an attribute, an array of strings. */
function withWarnings({ span, warnings }: Adjusted): StoredSpan {
  if (warnings.length === 0) return span;
  const { pairs, types } = span.attributes;
  return { ...span, attributes: { pairs: [...pairs, [WARNINGS, JSON.stringify(warnings)]], types: `${types}${ARRAY}` } };
}

async function* wrapped(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  yield '{"result":';
  yield* pieces;
  yield '}';
}

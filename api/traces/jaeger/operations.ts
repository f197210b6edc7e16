/** What Jaeger's query API answers. Its envelopes are those of Jaeger 1.76. */
import { HttpError } from '../../../pipeline/core/errors.ts';
import { MAX_TIME, MIN_TIME } from '../../../pipeline/core/time.ts';
import type { Deps, Request } from '../../query/deps.ts';
import type { EngineAnswer } from '../../query/engine.ts';
import { retentionFloor } from '../../query/window.ts';
import { findTraces } from '../find-traces.ts';
import { KINDS } from '../parameters.ts';
import { readTraces } from '../read-traces.ts';
import { edgesIn } from '../service-map.ts';
import { MAX_NAMES, operationsIn, servicesIn, type Operation } from '../services.ts';
import type { Span } from '../span-filter.ts';
import { traceBounds, type TraceBounds } from '../trace-bounds.ts';
import { NO_SERVICE, type JaegerSearch, type JaegerWindow } from './parameters.ts';
import { jaegerTraceId } from './span-json.ts';
import { tracePieces } from './trace-json.ts';

const DAY = 86_400_000_000_000n;
/** How far back a search looks without a start, and where services and operations are looked for: Jaeger has no window for these. */
const SEARCHED = 2n * DAY;
const LISTED = 7n * DAY;
const JSON_TYPE = { 'Content-Type': 'application/json; charset=utf-8' };

/** The answer around some data. */
export const envelope = (data: string, total = 0, errors: readonly object[] | null = null): string =>
  `{"data":${data},"total":${String(total)},"limit":0,"offset":0,"errors":${JSON.stringify(errors)}}`;

/** A span of time within what can be stored, and what the plan still shows. */
export function shown(start: bigint, end: bigint, request: Request, deps: Deps): Span {
  const floor = retentionFloor(deps.now(), request.retentionDays) ?? MIN_TIME;
  return { start: start < floor ? floor : start, end: end > MAX_TIME ? MAX_TIME : end };
}

const lately = (request: Request, deps: Deps): Span => shown(deps.now() - LISTED, deps.now(), request, deps);

/** The name of a service as Jaeger has it. */
export const named = (service: string): string => (service === '' ? NO_SERVICE : service);

const servicesLately = async (request: Request, deps: Deps): Promise<readonly string[]> => [
  ...new Set((await servicesIn(lately(request, deps), request, deps)).slice(0, MAX_NAMES).map(named)),
];

/** The services. */
export async function jaegerServices(_given: object, request: Request, deps: Deps): Promise<string> {
  const found = await servicesLately(request, deps);
  return envelope(JSON.stringify(found), found.length);
}

/** The same of version 3. */
export const servicesV3 = async (_given: object, request: Request, deps: Deps): Promise<string> =>
  JSON.stringify({ services: await servicesLately(request, deps) });

/** `kind`: as OTLP numbers it; null for any. */
type OfService = { readonly service: string | null; readonly kind: number | null };

/** The operations of a service, of a kind maybe. */
export async function operationsOf({ service, kind }: OfService, request: Request, deps: Deps): Promise<readonly Operation[]> {
  if (service === null) return [];
  const found = await operationsIn(service, lately(request, deps), request, deps);
  return found.filter((operation) => kind === null || operation.kind === kind).slice(0, MAX_NAMES);
}

/** Their names, each once. */
export async function jaegerOperationNames(given: OfService, request: Request, deps: Deps): Promise<string> {
  const names = [...new Set((await operationsOf(given, request, deps)).map(({ name }) => name))];
  return envelope(JSON.stringify(names), names.length);
}

export async function jaegerOperations(given: OfService, request: Request, deps: Deps): Promise<string> {
  const found = await operationsOf(given, request, deps);
  return envelope(JSON.stringify(found.map(({ name, kind }) => ({ name, spanKind: kind === 0 ? '' : KINDS[kind] }))), found.length);
}

/** The bounds of the traces that a search finds, newest first; `missing`: ids that were asked for and are not there. */
export async function searched(
  { filter, limit, ids, ...window }: Omit<JaegerSearch, 'raw'>,
  request: Request,
  deps: Deps,
): Promise<{ readonly traces: readonly TraceBounds[]; readonly missing: readonly string[] }> {
  const wanted = ids.length > 0 ? ids : await foundIds({ filter, limit, ...window }, request, deps);
  const bounds = new Map((await traceBounds(wanted, request, deps)).map((trace) => [trace.id, trace]));
  return {
    traces: [...new Set(wanted)].flatMap((id) => bounds.get(id) ?? []),
    missing: ids.filter((id) => !bounds.has(id)),
  };
}

async function foundIds({ filter, limit, ...window }: Omit<JaegerSearch, 'ids' | 'raw'>, request: Request, deps: Deps): Promise<string[]> {
  const span = windowOf(window, request, deps);
  if (span.start > span.end) return [];
  return (await findTraces({ filter, span, limit, after: null }, request, deps)).map(({ id }) => id);
}

function windowOf({ start, end }: JaegerWindow, request: Request, deps: Deps): Span {
  const until = end === null ? deps.now() : BigInt(end);
  return shown(start === null ? until - SEARCHED : BigInt(start), until, request, deps);
}

/** Whole traces that a search finds, one after the other. */
export async function jaegerTraces(given: JaegerSearch, request: Request, deps: Deps): Promise<EngineAnswer> {
  const { traces, missing } = await searched(given, request, deps);
  const errors = missing.map((id) => ({ msg: 'trace not found', traceID: jaegerTraceId(id) }));
  return { headers: JSON_TYPE, stream: wrapped(traces, { errors: errors.length === 0 ? null : errors, raw: given.raw }, request, deps) };
}

/** One trace. Throws HttpError 404 for one that is not there, as clients take the first of `data` without a look. */
export async function jaegerTrace(
  { id, raw }: { readonly id: string; readonly raw: boolean },
  request: Request,
  deps: Deps,
): Promise<EngineAnswer> {
  const traces = await traceBounds([id], request, deps);
  if (traces.length === 0) throw new HttpError(404, 'not_found', 'trace not found');
  return { headers: JSON_TYPE, stream: wrapped(traces, { errors: null, raw }, request, deps) };
}

async function* wrapped(
  traces: readonly TraceBounds[],
  { errors, raw }: { readonly errors: readonly object[] | null; readonly raw: boolean },
  request: Request,
  deps: Deps,
): AsyncGenerator<string> {
  const [head = '', tail = ''] = envelope('[\u0000]', 0, errors).split('\u0000');
  yield head;
  let comma = '';
  for await (const trace of readTraces(traces, request, deps)) {
    yield comma;
    yield* tracePieces(trace, raw);
    comma = ',';
  }
  yield tail;
}

/** Which services call which. */
export async function jaegerDependencies(
  { end, lookback, service }: { readonly end: string | null; readonly lookback: string; readonly service: string },
  request: Request,
  deps: Deps,
): Promise<string> {
  const until = end === null ? deps.now() : BigInt(end);
  const span = shown(until - BigInt(lookback), until, request, deps);
  const edges = span.start > span.end ? [] : (await edgesIn(span, request, deps)).edges;
  const own = edges.filter(({ caller, callee }) => service === '' || named(caller) === service || named(callee) === service);
  return envelope(
    JSON.stringify(own.map(({ caller, callee, calls }) => ({ parent: named(caller), child: named(callee), callCount: calls }))),
  );
}

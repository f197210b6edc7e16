import { HttpError } from '../../pipeline/core/errors.ts';
import type { Deps, Request } from '../query/deps.ts';
import type { EngineAnswer } from '../query/engine.ts';
import { resourceSpansJson } from './otlp-json.ts';
import { readTraces, type TraceSpans } from './read-traces.ts';
import { traceBounds, type TraceBounds } from './trace-bounds.ts';

const JSON_TYPE = { 'Content-Type': 'application/json; charset=utf-8' };

/** The bounds of a trace. Throws HttpError 404 for one that the tenant does not have, or not any more. */
export async function boundsOfTrace(id: string, request: Request, deps: Deps): Promise<TraceBounds> {
  const [bounds] = await traceBounds([id], request, deps);
  if (bounds === undefined) throw new HttpError(404, 'not_found', `There is no trace ${id}.`);
  return bounds;
}

/** `GET /traces/{trace_id}`: the spans of a trace as OTLP's JSON, as they are read. */
export async function showTrace({ id }: { readonly id: string }, request: Request, deps: Deps): Promise<EngineAnswer> {
  const traces = readTraces([await boundsOfTrace(id, request, deps)], request, deps);
  return { headers: JSON_TYPE, stream: otlpPieces(traces) };
}

/** A JSON object of OTLP's `resourceSpans`, in pieces. */
export async function* otlpPieces(traces: AsyncIterable<TraceSpans>): AsyncGenerator<string> {
  let before = '{"resourceSpans":[';
  for await (const { spans } of traces)
    for await (const some of spans)
      for (const group of resourceSpansJson(some)) {
        yield before + group;
        before = ',';
      }
  yield before === ',' ? ']}' : `${before}]}`;
}

import { formatTime } from '../../pipeline/core/time.ts';
import type { Deps, Request } from '../query/deps.ts';
import type { EngineAnswer } from '../query/engine.ts';
import { search } from '../search/search.ts';
import type { TraceLogsParameters } from './parameters.ts';
import { boundsOfTrace } from './show-trace.ts';

/** How long before its first span and after its last one begins entries of a trace may be. Nanoseconds. */
const MARGIN = 600_000_000_000n;

/** `GET /traces/{trace_id}/logs`: the entries with the id of a trace, around its spans or in a window that is given: an answer of `/search`. */
export async function traceLogs(parameters: TraceLogsParameters, request: Request, deps: Deps): Promise<string | EngineAnswer> {
  const { id, limit, before } = parameters;
  const { start, end } = parameters;
  const window = start === null || end === null ? await aroundTrace(id, request, deps) : { start, end };
  return search({ query: queryOf(id), ...window, limit, before, enrich: false }, request, deps);
}

async function aroundTrace(id: string, request: Request, deps: Deps): Promise<{ readonly start: string; readonly end: string }> {
  const { start, end } = await boundsOfTrace(id, request, deps);
  return { start: formatTime(start - MARGIN), end: formatTime(end + MARGIN) };
}

/** Ids as producers write them: in either case, and of 16 digits where the first ones are zeros. */
function queryOf(id: string): string {
  const written = [id, ...(/^0{16}/.test(id) ? [id.slice(16)] : [])];
  return `trace_id:in(${[...new Set(written.flatMap((text) => [text, text.toUpperCase()]))].map((text) => JSON.stringify(text)).join(',')})`;
}

import { formatTime } from '../../pipeline/core/time.ts';
import type { Deps, Request } from '../query/deps.ts';
import type { EngineAnswer } from '../query/engine.ts';
import { search } from '../search/search.ts';
import { findTraces } from '../traces/find-traces.ts';
import { summariesOf } from '../traces/list-traces.ts';
import { boundsOfSession } from './sessions.ts';
import type { SessionLogsParameters, SessionTracesParameters } from './parameters.ts';

/** How long before the first event of a session and after its last one its servers may log. Milliseconds. */
const MARGIN_MS = 60_000;
const MILLION = 1_000_000n;
/** Traces whose entries are looked for: a query has 10,000 characters at most. */
const MOST_NAMED = 100;
/** How producers call the user, in entries and in spans. */
const USER_FIELDS = ['user', 'user.id', 'user_id', 'enduser.id'];
const USER_TAGS = ['user.id', 'enduser.id'];

/** `GET …/{session}/logs`: entries with the session's id, or with one of its traces; of a session without traces those of its user: an answer of `/search`. */
export async function sessionLogs(
  { session, limit, before }: SessionLogsParameters,
  request: Request,
  deps: Deps,
): Promise<string | EngineAnswer> {
  const { start, end, user, traceIds } = await boundsOfSession(session, request, deps);
  const quoted = JSON.stringify(session);
  const filters = [`session_id:=${quoted}`, `session.id:=${quoted}`];
  if (traceIds.length > 0)
    filters.push(
      `trace_id:in(${traceIds
        .slice(0, MOST_NAMED)
        .flatMap((id) => [id, id.toUpperCase()])
        .join(',')})`,
    );
  else if (user !== '') filters.push(...USER_FIELDS.map((name) => `${name}:=${JSON.stringify(user)}`));
  const window = { start: formatTime(BigInt(start - MARGIN_MS) * MILLION), end: formatTime(BigInt(end + MARGIN_MS) * MILLION) };
  return search({ query: filters.join(' or '), ...window, limit, before, enrich: false }, request, deps);
}

/** `GET …/{session}/traces`: the session's traces, newest first; of a session without traces those with spans of its user. */
export async function sessionTraces({ session, limit }: SessionTracesParameters, request: Request, deps: Deps): Promise<string> {
  const { start, end, user, traceIds } = await boundsOfSession(session, request, deps);
  const span = { start: BigInt(start - MARGIN_MS) * MILLION, end: BigInt(end + MARGIN_MS) * MILLION };
  const ids = traceIds.length > 0 || user === '' ? traceIds : await tracesOfUser(user, span, limit, request, deps);
  const summaries = await summariesOf([...new Set(ids)], request, deps);
  const traces = [...summaries.values()].sort((one, other) => (one.start < other.start ? 1 : -1)).slice(0, limit);
  return JSON.stringify({ traces });
}

async function tracesOfUser(
  user: string,
  span: { readonly start: bigint; readonly end: bigint },
  limit: number,
  request: Request,
  deps: Deps,
): Promise<string[]> {
  const anything = { service: null, operation: null, minDuration: null, maxDuration: null, status: null, kind: null };
  const found = await Promise.all(
    USER_TAGS.map((name) => findTraces({ filter: { ...anything, tags: [[name, user]] }, span, limit, after: null }, request, deps)),
  );
  return found.flat().map(({ id }) => id);
}

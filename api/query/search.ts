import { formatTime } from '../../pipeline/core/time.ts';
import { hintsOf } from '../../logsql/hints.ts';
import { parseQuery } from '../../logsql/parser.ts';
import { planOptions, type Deps, type Request } from './deps.ts';
import { prepareQuery, runPrepared, runTexts, type FoundTexts, type Prepared, type Runner } from './run.ts';
import type { SearchParameters } from './parameters.ts';
import { renderResult } from './render.ts';
import { readCursor, readWindow, windowMember, writeCursor } from './window.ts';

/** `POST /search`: entries (or the rows of the query's pipes), newest first, as JSON text. */
export async function search(parameters: SearchParameters & { readonly enrich: boolean }, request: Request, deps: Deps): Promise<string> {
  const window = readWindow(parameters.start, parameters.end, deps.now(), request.retentionDays);
  const query = parseQuery(parameters.query, { now: window.now });
  const before = parameters.before === null ? {} : { before: readCursor(parameters.before) };
  const runner = deps.runner(request);
  const plan = await prepareQuery(query, { ...planOptions(window, request, deps), ...before }, runner);
  const enrich = parameters.enrich ? deps.enrich : undefined;
  const texts = Array.isArray(plan) || enrich !== undefined ? null : await runTexts(plan, runner, parameters.limit);
  const found = texts ?? (await rendered(plan, parameters.limit, runner, request, enrich));
  const oldest = oldestTime(found);
  // only entries have a place from which one can go on
  const isPaged = found.kind === 'entries';
  const tail = `"count":${String(found.texts.length)},"elapsed_ms":${String(Math.round(performance.now() - request.startedAt))},"has_more":${String(found.hasMore && isPaged)},"oldest_time":${oldest === null ? 'null' : JSON.stringify(oldest)},${windowMember(window)}${found.hasMore && !isPaged ? ',"truncated":true' : ''}${found.texts.length === 0 ? hintsMember(parameters.query) : ''}`;
  return `{"logs":[${found.texts.join(',')}],${tail}}`;
}

async function rendered(plan: Prepared, limit: number, runner: Runner, request: Request, enrich: Deps['enrich']): Promise<FoundTexts> {
  const found = await runPrepared(plan, runner, limit);
  await enrich?.(found.rows, request);
  return { ...found, texts: found.rows.map(renderResult) };
}

/** What to tell of a query that found nothing and looks like one of another language; empty where it does not. */
function hintsMember(query: string): string {
  const hints = hintsOf(query);
  return hints.length === 0 ? '' : `,"hints":${JSON.stringify(hints)}`;
}

/** The cursor for the next page: the last entry's time, and its whole place when the next entry has the same time. */
function oldestTime({ kind, last, next }: FoundTexts): string | null {
  if (kind !== 'entries' || last === null) return null;
  return next?.time === last.time ? writeCursor(last) : formatTime(BigInt(last.time));
}

import { renderEntry } from '../../pipeline/core/entry.ts';
import { formatTime } from '../../pipeline/core/time.ts';
import { parseQuery } from '../../logsql/parser.ts';
import { planOptions, type Deps, type Request } from './deps.ts';
import { runQuery, type Found } from './run.ts';
import type { SearchParameters } from './parameters.ts';
import { readCursor, readWindow, writeCursor } from './window.ts';

/** `POST /search`: entries (or the rows of the query's pipes), newest first, as JSON text. */
export async function search(parameters: SearchParameters, request: Request, deps: Deps): Promise<string> {
  const window = readWindow(parameters.start, parameters.end, deps.now(), request.retentionDays);
  const query = parseQuery(parameters.query, { now: window.now });
  const before = parameters.before === null ? {} : { before: readCursor(parameters.before) };
  const found = await runQuery(query, { ...planOptions(window, request, deps), ...before }, deps.runner(request), parameters.limit);
  await deps.enrich?.(found.rows, request);
  const oldest = oldestTime(found);
  const tail = `"count":${String(found.rows.length)},"elapsed_ms":${String(Math.round(performance.now() - request.startedAt))},"has_more":${String(found.hasMore)},"oldest_time":${oldest === null ? 'null' : JSON.stringify(oldest)}`;
  return `{"logs":[${found.rows.map(renderEntry).join(',')}],${tail}}`;
}

/** The cursor for the next page: the last entry's time, and its whole place when the next entry has the same time. */
function oldestTime({ kind, last, next }: Found): string | null {
  if (kind !== 'entries' || last === null) return null;
  return next?.time === last.time ? writeCursor(last) : formatTime(BigInt(last.time));
}

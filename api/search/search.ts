import type { LogEntry } from '../../pipeline/core/entry.ts';
import { formatTime } from '../../pipeline/core/time.ts';
import { innerWindowHints } from '../../logsql/evaluation/inner-window.ts';
import { hintsOf } from '../../logsql/parser/hints.ts';
import type { QueryMemory } from '../../logsql/base/memory.ts';
import { parseQuery } from '../../logsql/parser/parser.ts';
import { sizeOfText } from '../../logsql/base/rows.ts';
import { withMost } from '../../logsql/pipes/sort.ts';
import type { Position } from '../../logsql/base/position.ts';
import { Query } from '../../logsql/base/query.ts';
import { planOptions, type Deps, type Request } from '../query/deps.ts';
import { rows, texts } from '../query/rows.ts';
import type { Chunk } from '../query/runner.ts';
import { prepare } from '../query/run.ts';
import type { EngineAnswer } from '../query/engine.ts';
import type { SearchParameters } from '../query/parameters.ts';
import { enriched } from '../query/patterns/enrich.ts';
import { renderResult } from '../query/render.ts';
import { hintsMember } from '../query/hints.ts';
import { missingHints } from './missing-hints.ts';
import { readCursor, readWindow, windowMember, writeCursor } from '../query/window.ts';

/** An answer ends before it has more characters, unless its first row alone has. */
const MAX_LENGTH = 32 * 1024 * 1024;

/** An answer with more characters is sent in pieces of PIECE_LENGTH, so that no second copy of the whole exists. */
const LONG = 1024 * 1024;
const PIECE_LENGTH = 128 * 1024;
const JSON_TYPE = { 'Content-Type': 'application/json; charset=utf-8' };

/** `POST /search` and `POST /spans/search`: entries (or the rows of the query's pipes), newest first, as a JSON string. */
export async function search(
  parameters: SearchParameters & { readonly enrich: boolean },
  request: Request,
  deps: Deps,
): Promise<string | EngineAnswer> {
  const window = readWindow(parameters.start, parameters.end, deps.now(), request.retentionDays);
  const query = parseQuery(parameters.query, { now: window.now });
  const before = parameters.before === null ? {} : { before: readCursor(parameters.before) };
  const runner = deps.runner(request);
  // one more row shows whether there are more
  const wanted = { limit: parameters.limit + 1 };
  const limited = new Query(query.options, query.filter, withMost(query.pipes, wanted.limit));
  const prepared = await prepare(limited, { ...planOptions(window, request, deps), ...before }, runner);
  const chunks = texts(prepared.plan, runner, wanted) ?? rendered(rows(prepared, runner, wanted));
  // only entries have a place from which one can go on, and a pattern
  const isPaged = prepared.plan.kind === 'entries';
  const page = await firstPage(
    parameters.enrich && isPaged && request.narrowedTo === null ? enriched(chunks, request, deps) : chunks,
    parameters.limit,
    deps.memory,
  );
  const oldest = isPaged ? oldestTime(page) : null;
  const isEmpty = page.texts.length === 0;
  const missing = isEmpty && parameters.before === null ? await missingHints(query, window, request, deps) : [];
  const nothing = isEmpty ? [...missing, ...hintsOf(parameters.query)] : [];
  const hints = [...(parameters.notes ?? []), ...innerWindowHints(query, window), ...nothing];
  const tail = `"count":${String(page.texts.length)},"elapsed_ms":${String(Math.round(performance.now() - request.startedAt))},"has_more":${String(page.hasMore && isPaged)},"oldest_time":${oldest === null ? 'null' : JSON.stringify(oldest)},${windowMember(window)}${page.hasMore && !isPaged ? ',"truncated":true' : ''}${hintsMember(hints)}`;
  const length = page.texts.reduce((sum, text) => sum + text.length, 0);
  if (length <= LONG) return `{"${deps.table.member}":[${page.texts.join(',')}],${tail}}`;
  return { headers: JSON_TYPE, stream: pieces(`{"${deps.table.member}":[`, page.texts, `],${tail}}`) };
}

/** A list in JSON in pieces of some length; a string that was yielded is released. */
function* pieces(head: string, texts: (string | null)[], tail: string): Generator<string> {
  let [piece, comma] = [head, ''];
  for (const [index, text] of texts.entries()) {
    texts[index] = null;
    piece += comma + (text ?? '');
    comma = ',';
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = '';
  }
  yield piece + tail;
}

async function* rendered(chunks: AsyncIterable<Chunk<LogEntry>>): AsyncGenerator<Chunk<string>> {
  for await (const chunk of chunks) yield { rows: chunk.rows.map(renderResult), placeOf: (index) => chunk.placeOf(index) };
}

/** What an answer has, whether there are more, and where its last entry stands (with that of the next one). */
type Page = {
  readonly texts: string[];
  readonly hasMore: boolean;
  readonly last: Position | null;
  readonly next: Position | null;
};

/** As many rows as are wanted, and as an answer may have. */
async function firstPage(chunks: AsyncIterable<Chunk<string>>, limit: number, memory: QueryMemory): Promise<Page> {
  const kept: string[] = [];
  let [last, length]: [Position | null, number] = [null, 0];
  for await (const chunk of chunks) {
    for (const [index, text] of chunk.rows.entries()) {
      const isFull = kept.length > 0 && (length + text.length > MAX_LENGTH || !memory.fits(sizeOfText(text)));
      if (kept.length === limit || isFull)
        return { texts: kept, hasMore: true, last: index === 0 ? last : chunk.placeOf(index - 1), next: chunk.placeOf(index) };
      memory.hold('The answer', 1, sizeOfText(text));
      length += text.length;
      kept.push(text);
    }
    last = chunk.placeOf(chunk.rows.length - 1);
  }
  return { texts: kept, hasMore: false, last, next: null };
}

/** The cursor for the next page: the last entry's time, and its whole place when the next entry has the same time. */
function oldestTime({ last, next }: Page): string | null {
  if (last === null) return null;
  return next?.time === last.time ? writeCursor(last) : formatTime(BigInt(last.time));
}

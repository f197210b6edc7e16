import { LimitPipe, OffsetPipe } from '../../logsql/pipes/limit.ts';
import { Query } from '../../logsql/query.ts';
import type { LogEntry } from '../../pipeline/core/entry.ts';
import type { Request } from '../query/deps.ts';
import { runQuery } from '../query/run.ts';
import { toClientError } from '../query/timed.ts';
import { streamQuery } from '../query/stream.ts';
import { MAX_HELD, readLimit, readSelection, selectionOptions } from './arguments.ts';
import type { Select } from './select.ts';
import { renderLines, resumed } from './lines.ts';

/**
 * `/select/logsql/query`: rows as JSON lines, all values as texts, as they are found. With `limit` the newest entries (after the
 * newest `offset` ones), oldest first where they are at most 10,000; without it all of them, newest first.
 */
export const selectRows: Select = async (parameters, request, deps) => {
  const { limit, offset } = readLimit(parameters);
  const selection = readSelection(parameters, deps.now(), request.retentionDays);
  const options = { ...selectionOptions(selection, request, deps), streamIds: true } as const;
  const runner = deps.runner(request);
  if (limit + offset <= MAX_HELD) {
    const { rows, kind } = await runQuery(selection.query, options, runner, limit + offset);
    const kept = rows.slice(offset);
    return { stream: lines([kind === 'entries' ? kept.reverse() : kept], request) };
  }
  const { filter, pipes } = selection.query;
  const cut = limit === Infinity ? [] : [...(offset > 0 ? [new OffsetPipe(offset)] : []), new LimitPipe(limit)];
  const chunks = streamQuery(new Query(selection.query.options, filter, [...pipes, ...cut]), options, runner, limit);
  // What fails before the first row still has a status of its own.
  const first = await chunks.next();
  return { stream: lines(resumed(first, chunks), request) };
};

type Chunks = AsyncIterable<readonly LogEntry[]> | Iterable<readonly LogEntry[]>;

async function* lines(chunks: Chunks, request: Request): AsyncGenerator<string> {
  try {
    for await (const rows of chunks) yield renderLines(rows);
  } catch (error) {
    throw toClientError(error, request);
  }
}

import { LimitPipe, OffsetPipe } from '../../logsql/pipes/limit.ts';
import type { QueryMemory } from '../../logsql/base/memory.ts';
import { sizeOfRow } from '../../logsql/base/rows.ts';
import { withMost } from '../../logsql/pipes/sort.ts';
import { Query } from '../../logsql/base/query.ts';
import type { LogEntry } from '../../pipeline/core/entry.ts';
import type { Request } from '../query/deps.ts';
import { rows } from '../query/rows.ts';
import type { Chunk } from '../query/runner.ts';
import { prepare } from '../query/run.ts';
import { toClientError } from '../query/client-error.ts';
import { MAX_HELD, readLimit, readSelection, selectionOptions } from './arguments.ts';
import type { Select } from './select.ts';
import { renderLines, resumed } from './lines.ts';

/** Up to this number of bytes of rows are held to be printed oldest first. */
const MAX_HELD_BYTES = 16_000_000;

/**
 * `/select/logsql/query`: rows as JSON lines, all values as strings, as they are found. With `limit` the newest entries (after the
 * newest `offset` ones), oldest first where they are at most 10,000 and 16 MB; else newest first, without `limit` all of them.
 */
export const selectRows: Select = async (parameters, request, deps) => {
  const { limit, offset } = readLimit(parameters);
  const { query, ...selection } = readSelection(parameters, deps.now(), request.retentionDays);
  const options = { ...selectionOptions({ query, ...selection }, request, deps), streamIds: true } as const;
  const runner = deps.runner(request);
  const isHeld = limit + offset <= MAX_HELD;
  const cut = isHeld || limit === Infinity ? [] : [...(offset > 0 ? [new OffsetPipe(offset)] : []), new LimitPipe(limit)];
  const prepared = await prepare(
    new Query(query.options, query.filter, isHeld ? withMost(query.pipes, limit + offset) : [...query.pipes, ...cut]),
    options,
    runner,
  );
  const chunks = rows(prepared, runner, isHeld ? { limit: limit + offset } : {});
  const found = isHeld ? newestHeld(chunks, offset, prepared.plan.kind === 'entries', deps.memory) : listsOf(chunks);
  // What fails before the first row still has a status of its own.
  const first = await found.next();
  return { stream: lines(resumed(first, found), request) };
};

type Lists = AsyncGenerator<readonly LogEntry[], void, unknown>;

async function* listsOf(chunks: AsyncIterable<Chunk<LogEntry>>): Lists {
  for await (const chunk of chunks) yield chunk.rows;
}

/** All rows but the first ones, in one list, and entries oldest first; where they take too much memory for that, as they come. */
async function* newestHeld(chunks: AsyncIterable<Chunk<LogEntry>>, offset: number, isReversed: boolean, memory: QueryMemory): Lists {
  let held: LogEntry[] = [];
  let [skip, bytes, isHeld] = [offset, 0, true];
  for await (const chunk of chunks) {
    const kept = chunk.rows.slice(skip);
    skip -= chunk.rows.length - kept.length;
    held.push(...kept);
    const size = isHeld ? kept.reduce((sum, row) => sum + sizeOfRow(row), 0) : 0;
    bytes += size;
    isHeld &&= bytes <= MAX_HELD_BYTES && memory.fits(size);
    if (isHeld) {
      memory.hold('The answer', kept.length, size);
      continue;
    }
    yield held;
    held = [];
  }
  yield isHeld && isReversed ? held.reverse() : held;
}

async function* lines(lists: Lists, request: Request): AsyncGenerator<string> {
  try {
    for await (const list of lists) yield renderLines(list);
  } catch (error) {
    throw toClientError(error, request);
  }
}

import { parseQuery } from '../../logsql/parser.ts';
import { invalidParameter } from '../../pipeline/core/errors.ts';
import type { Deps, Request } from '../query/deps.ts';
import { follow, type FollowOptions } from '../query/follow.ts';
import { timed } from '../query/timed.ts';
import { durationOf, readSelection, selectionOptions, type Arguments } from './arguments.ts';
import { extraFilters } from './extra-filters.ts';
import { renderLines, resumed } from './lines.ts';
import type { Select } from './select.ts';

/** Bounds of `refresh_interval`, in milliseconds. */
const MIN_REFRESH = 200;
const MAX_REFRESH = 3_600_000;

/** Entries as JSON lines as they come. What fails before the first look is over has a status of its own. */
export const selectTail: Select = async (parameters, request, deps) => {
  const lines = tailLines(readTail(parameters, request, deps));
  const first = await lines.next();
  return { stream: resumed(first, lines) };
};

async function* tailLines(options: FollowOptions): AsyncGenerator<string> {
  for await (const rows of follow(options)) yield renderLines(rows);
}

/** Reads `start_offset`, `offset` and `refresh_interval` beside the query. Throws HttpError 400. */
function readTail(parameters: Arguments, request: Request, deps: Deps): FollowOptions {
  const { query, window } = readSelection(parameters, deps.now(), request.retentionDays);
  const groups = query.pipes.find((pipe) => !pipe.liveTail);
  if (groups !== undefined)
    throw invalidParameter(
      `Live tail cannot run the pipe ${JSON.stringify(groups.toString().split(' ')[0])}: it needs to see all entries.`,
    );
  const delay = lengthOf(parameters, 'offset', 5e9);
  const refresh = Number(lengthOf(parameters, 'refresh_interval', 1e9)) / 1e6;
  return {
    start: deps.now() - delay - lengthOf(parameters, 'start_offset', 5e9),
    delay,
    refreshMs: Math.min(Math.max(refresh, MIN_REFRESH), MAX_REFRESH),
    now: () => deps.now(),
    signal: request.signal,
    run: (work) =>
      deps.looks.run(request.tenantId, request.signal, async () => {
        await request.permit();
        // what the look before has found was sent
        deps.memory.clear();
        deps.memory.until = performance.now() + request.timeoutMs;
        return timed(request, work);
      }),
    look: (start, end, part) => {
      const inside = { start: start > window.start ? start : window.start, end: end < window.end ? end : window.end, now: end };
      const selection = {
        query: parseQuery(parameters.get('query') ?? '', { now: end }),
        window: inside,
        extra: extraFilters(parameters, end),
      };
      return {
        query: selection.query,
        options: { ...selectionOptions(selection, part, deps), streamIds: true },
        runner: deps.runner(part),
      };
    },
  };
}

/** A length of time in nanoseconds, from 0 on. */
function lengthOf(parameters: Arguments, name: string, fallback: number): bigint {
  const length = durationOf(parameters, name, fallback);
  if (length < 0) throw invalidParameter(`${name} cannot be below 0.`);
  return BigInt(Math.trunc(length));
}

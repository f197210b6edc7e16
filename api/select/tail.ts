import { parseQuery } from '../../logsql/parser.ts';
import { invalidParameter } from '../../pipeline/core/errors.ts';
import type { Endpoint } from '../http/endpoint.ts';
import type { Exchange } from '../http/exchange.ts';
import type { LiveTails } from '../limits/live-tails.ts';
import { follow, type FollowOptions } from '../query/follow.ts';
import { toQueryError } from '../query/run.ts';
import type { QueryRuntime } from '../query/runtime.ts';
import { durationOf, readArguments, readSelection, selectionOptions, timeoutOf, type Arguments } from './arguments.ts';
import { extraFilters } from './extra-filters.ts';
import { renderLines, resumed } from './lines.ts';

/** Bounds of `refresh_interval`, in milliseconds. */
const MIN_REFRESH = 200;
const MAX_REFRESH = 3_600_000;

/**
 * `/select/logsql/tail`: entries as JSON lines as they come (https://docs.victoriametrics.com/victorialogs/querying/#live-tailing).
 * Each look for new ones counts as a query of the key; where these are used up the tail waits. It ends with the client, when its key
 * is not let in any more, and with the process.
 */
export const tailEndpoint = (runtime: QueryRuntime, tails: LiveTails): Endpoint => ({
  methods: ['GET', 'POST'],
  path: '/select/logsql/tail',
  errors: 'text',
  access: { plane: 'app', scope: 'read' },
  handle: async (exchange) => {
    const parameters = await readArguments(exchange);
    const options = asClientError(() => readTail(parameters, exchange, runtime, tails.ending));
    const leave = tails.enter(exchange.principal);
    const lines = tailLines(options, leave);
    const first = await lines.next();
    // also where nobody comes to read the answer
    exchange.signal.addEventListener('abort', leave);
    if (exchange.signal.aborted) leave();
    return { status: 200, stream: resumed(first, lines) };
  },
});

function asClientError<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw toQueryError(error);
  }
}

async function* tailLines(options: FollowOptions, leave: () => void): AsyncGenerator<string> {
  try {
    for await (const rows of follow(options)) yield renderLines(rows);
  } finally {
    leave();
  }
}

/** Reads `start_offset`, `offset` and `refresh_interval` beside the query. Throws HttpError 400. */
function readTail(parameters: Arguments, exchange: Exchange, runtime: QueryRuntime, ending: AbortSignal): FollowOptions {
  const deps = runtime.deps(false);
  const { query, window } = readSelection(parameters, deps.now(), exchange.principal.plan.retentionDays);
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
    signal: AbortSignal.any([exchange.signal, ending]),
    run: (work) => {
      exchange.checkKey();
      return runtime.run(exchange, work, timeoutOf(parameters));
    },
    look: (start, end, request) => {
      const inside = { start: start > window.start ? start : window.start, end: end < window.end ? end : window.end, now: end };
      const selection = {
        query: parseQuery(parameters.get('query') ?? '', { now: end }),
        window: inside,
        extra: extraFilters(parameters, end),
      };
      return {
        query: selection.query,
        options: { ...selectionOptions(selection, request, deps), streamIds: true },
        runner: deps.runner(request),
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

import { invalidParameter } from '../../../pipeline/core/errors.ts';
import { formatTime, MAX_TIME, MIN_TIME } from '../../../pipeline/core/time.ts';
import { readTime } from '../../../logsql/values/times.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { TAIL } from '../../select/described.ts';
import { streamedTail, type StreamedTailDeps } from './streamed-tail.ts';
import { jsonLines } from './tail-text.ts';
import type { TailRequest } from '../tail-session.ts';
import { durationOf, readArguments, type Arguments } from '../../select/arguments.ts';

/** What else entries must match. */
const EXTRA = ['extra_filters', 'extra_stream_filters'] as const;

/**
 * `/select/logsql/tail`: entries as JSON lines as they come (https://docs.victoriametrics.com/victorialogs/querying/#live-tailing), after
 * those that are stored since `offset` and `start_offset` before now. `refresh_interval` is read and has no effect: entries come when they
 * arrive, and not when they are polled.
 */
export const tailEndpoint = (deps: StreamedTailDeps): Endpoint => ({
  methods: ['GET', 'POST'],
  path: '/select/logsql/tail',
  operation: TAIL,
  errors: 'text',
  access: { plane: 'app', scope: 'read' },
  isNarrowed: true,
  handle: async (exchange) =>
    streamedTail(exchange, readTail(await readArguments(exchange), BigInt(Date.now()) * 1_000_000n), jsonLines, deps),
});

/** Throws HttpError 400. */
function readTail(parameters: Arguments, now: bigint): TailRequest {
  lengthOf(parameters, 'refresh_interval', 1e9);
  const since = now - lengthOf(parameters, 'offset', 5e9) - lengthOf(parameters, 'start_offset', 5e9);
  const extra = EXTRA.flatMap((name) => parameters.getAll(name).map((value): [string, string] => [name, value]));
  const window = windowOf(parameters, now);
  return {
    query: parameters.get('query') ?? '',
    since: String(since < MIN_TIME ? MIN_TIME : since),
    extra: window === null ? extra : [...extra, ['extra_filters', window]],
    asTexts: true,
  };
}

/** `start` and `end` as a filter; null where neither is given. */
function windowOf(parameters: Arguments, now: bigint): string | null {
  const [start, end] = (['start', 'end'] as const).map((name) => {
    const text = (parameters.get(name) ?? '').trim();
    if (text === '') return null;
    const time = readTime(text, now);
    if (time === null) throw invalidParameter(`${name} ${JSON.stringify(text)} is not a valid time.`);
    return time;
  });
  if (start == null && end == null) return null;
  return `_time:[${formatTime(start?.start ?? MIN_TIME)}, ${formatTime(end?.end ?? MAX_TIME - 1n)}]`;
}

/** A length of time in nanoseconds, from 0 on. */
function lengthOf(parameters: Arguments, name: string, fallback: number): bigint {
  const length = durationOf(parameters, name, fallback);
  if (length < 0) throw invalidParameter(`${name} cannot be below 0.`);
  return BigInt(Math.trunc(length));
}

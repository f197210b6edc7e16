/** Checks of the parameters of traces: one sentence for what was wrong. */
import Joi from 'joi';
import { invalidParameter } from '../../pipeline/core/errors.ts';
import { readLength } from '../../logsql/values/times.ts';
import { readBy } from '../http/lists.ts';
import { check, single, time } from '../query/parameters.ts';
import type { Cursor } from './find-traces.ts';
import { readGoDuration } from './go-duration.ts';
import type { SpanFilter } from './span-filter.ts';

/** Most traces of an answer. */
export const MAX_TRACES = 1500;
const DEFAULT_TRACES = 20;
/** Tags of a request, and characters of a name or a value. */
const MAX_TAGS = 20;
const MAX_TEXT = 8192;

export const TRACES = [
  ...['service', 'operation', 'tag', 'tags', 'min_duration', 'max_duration', 'status', 'kind', 'start', 'end', 'limit', 'cursor'],
] as const;
export const TRACE_WINDOW = ['start', 'end'] as const;
export const TRACE_LOGS = ['start', 'end', 'limit', 'before'] as const;

const STATUSES = ['unset', 'ok', 'error'] as const;
export const KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'] as const;

export type TracesParameters = {
  readonly filter: SpanFilter;
  readonly start: string;
  readonly end: string;
  readonly limit: number;
  readonly cursor: Cursor | null;
};

export type TraceWindow = { readonly start: string; readonly end: string };
export type TraceLogsParameters = {
  readonly id: string;
  readonly start: string | null;
  readonly end: string | null;
  readonly limit: number;
  readonly before: string | null;
};

type Given = TraceWindow & {
  readonly service: string | null;
  readonly operation: string | null;
  readonly status: (typeof STATUSES)[number] | null;
  readonly kind: (typeof KINDS)[number] | null;
  readonly limit: number;
  readonly tag: [string, string][];
  readonly tags: [string, string][][];
  readonly min_duration: number | null;
  readonly max_duration: number | null;
  readonly cursor: Cursor | null;
};

const name = Joi.string().max(MAX_TEXT).default(null);
export const tracesSchema = Joi.object<Given>({
  ...{ service: name.allow(''), operation: name.allow('') },
  ...{ status: Joi.string().valid(...STATUSES).default(null), kind: Joi.string().valid(...KINDS).default(null) }, // prettier-ignore
  ...{ start: time.default('-1h'), end: time.default('now') },
  limit: Joi.number().integer().min(1).max(MAX_TRACES).default(DEFAULT_TRACES),
  tag: Joi.array().items(readBy(tagOf)).default([]).description('`name:value`, repeated: a span must have all of them.'),
  tags: Joi.array().items(readBy(tagsOfJson)).default([]).description('The same as a JSON object.'),
  min_duration: durationBy('min_duration'),
  max_duration: durationBy('max_duration'),
  cursor: readBy(cursorOf).empty('').default(null).description('The `next_cursor` of the page before.'),
});
export const windowSchema = Joi.object<TraceWindow>({ start: time.default('-1d'), end: time.default('now') });
export const logsSchema = Joi.object<Omit<TraceLogsParameters, 'id'>>({
  ...{ start: time.default(null), end: time.default(null) },
  limit: Joi.number().integer().min(1).max(10_000).default(1000),
  before: time.default(null),
});

/** The parameters of `/traces`. Throws HttpError 400. */
export function tracesParameters(query: URLSearchParams): TracesParameters {
  const names = ['service', 'operation', 'status', 'kind', 'start', 'end', 'limit', 'min_duration', 'max_duration', 'cursor'];
  const lists = { tag: query.getAll('tag'), tags: query.getAll('tags') };
  const { status, kind, service, operation, start, end, limit, cursor, ...given } = check(tracesSchema, {
    ...single(query, names),
    ...lists,
  });
  const { min_duration: minDuration, max_duration: maxDuration } = given;
  if (minDuration !== null && maxDuration !== null && minDuration > maxDuration)
    throw invalidParameter('min_duration is longer than max_duration.');
  return {
    filter: {
      ...{ service, operation, tags: checkedTags([...given.tag, ...given.tags.flat()]), minDuration, maxDuration },
      status: status === null ? null : STATUSES.indexOf(status),
      kind: kind === null ? null : KINDS.indexOf(kind),
    },
    ...{ start, end, limit, cursor },
  };
}

/** A window, of a day without one. Throws HttpError 400. */
export const traceWindow = (query: URLSearchParams): TraceWindow => check(windowSchema, single(query, TRACE_WINDOW));

/** The parameters of the log of a trace. Throws HttpError 400. */
export function traceLogsParameters(id: string, query: URLSearchParams): TraceLogsParameters {
  const given = check(logsSchema, single(query, TRACE_LOGS));
  if ((given.start === null) !== (given.end === null)) throw invalidParameter('start and end are given together, or neither.');
  return { id, ...given };
}

/** A duration as Go and LogsQL write them, in nanoseconds. Throws HttpError 400. */
function durationOf(parameter: string, text: string): number {
  const inGo = readGoDuration(text.trim());
  const length = typeof inGo === 'number' ? inGo : Number(readLength(text.trim()) ?? -1);
  if (length < 0)
    throw invalidParameter(`${parameter} ${JSON.stringify(text.slice(0, 80))} is not a duration such as 300ms, 1.5s or 1h30m.`);
  return Math.min(length, Number.MAX_SAFE_INTEGER);
}

function durationBy(parameter: string): Joi.StringSchema {
  const schema = readBy((text) => durationOf(parameter, text))
    .empty('')
    .default(null);
  return schema.description('A duration, as in 300ms, 1.5s or 1h30m.').example('300ms');
}

/** A tag of `tag=name:value`. Throws HttpError 400. */
function tagOf(text: string): [string, string] {
  const colon = text.indexOf(':');
  if (colon < 1) throw invalidParameter(`tag ${JSON.stringify(text.slice(0, 80))} must be a name and a value, as in tag=http.route:/cart.`);
  return [text.slice(0, colon), text.slice(colon + 1)];
}

/** Within the bounds. Throws HttpError 400. */
export function checkedTags(tags: [string, string][]): [string, string][] {
  if (tags.length > MAX_TAGS) throw invalidParameter(`There are more than ${String(MAX_TAGS)} tags.`);
  if (tags.some(([tag, value]) => tag.length > MAX_TEXT || value.length > MAX_TEXT))
    throw invalidParameter(`The name or the value of a tag has more than ${String(MAX_TEXT)} characters.`);
  return tags;
}

function tagsOfJson(text: string): [string, string][] {
  const fault = invalidParameter('tags must be a JSON object of strings, numbers and booleans, as in {"http.route":"/cart"}.');
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    throw fault;
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw fault;
  return Object.entries(given).map(([tag, value]: [string, unknown]) => {
    if (!['string', 'number', 'boolean'].includes(typeof value)) throw fault;
    return [tag, String(value)];
  });
}

/** Where the page before ended. Throws HttpError 400. */
function cursorOf(text: string): Cursor {
  const [, at = '', id = ''] = /^(-?\d{1,19})-([0-9a-f]{32})$/.exec(text) ?? [];
  if (id === '') throw invalidParameter(`cursor ${JSON.stringify(text.slice(0, 80))} is none: pass the next_cursor of the answer before.`);
  return { time: at, id };
}

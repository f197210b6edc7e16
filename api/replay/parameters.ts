/** Checks of the parameters of replay: one sentence for what was wrong. */
import Joi from 'joi';
import { SESSION_ID } from '../../pipeline/replay/chunk.ts';
import { MAX_QUERY_LENGTH } from '../../logsql/parser/parser.ts';
import { readLength } from '../../logsql/values/times.ts';
import { invalidParameter } from '../../pipeline/core/errors.ts';
import { check, single, time } from '../query/parameters.ts';

/** Most sessions of an answer. */
const MAX_SESSIONS = 1000;
const DEFAULT_SESSIONS = 100;
const MOST_TEXT = 2048;

export const SESSIONS = ['query', 'user', 'url', 'service', 'errors', 'min_length', 'start', 'end', 'limit', 'before'] as const;
export const EVENTS = ['from', 'to'] as const;
export const SESSION_LOGS = ['limit', 'before'] as const;
export const SESSION_TRACES = ['limit'] as const;

export type SessionsParameters = {
  readonly query: string;
  /** What else a session must be, as a filter of LogsQL; empty for nothing. */
  readonly filter: string;
  readonly start: string;
  readonly end: string;
  readonly limit: number;
  readonly before: string | null;
};
export type EventsParameters = { readonly session: string; readonly from: string | null; readonly to: string | null };
export type SessionLogsParameters = { readonly session: string; readonly limit: number; readonly before: string | null };
export type SessionTracesParameters = { readonly session: string; readonly limit: number };

type Given = Pick<SessionsParameters, 'query' | 'start' | 'end' | 'limit' | 'before'> & {
  readonly user: string | null;
  readonly url: string | null;
  readonly service: string | null;
  readonly errors: 'true' | 'false';
  readonly min_length: string | null;
};

const text = Joi.string().max(MOST_TEXT).default(null);
export const sessionsSchema = Joi.object<Given>({
  query: Joi.string().max(MAX_QUERY_LENGTH).default('*'),
  ...{ user: text, url: text, service: text, min_length: text },
  errors: Joi.string().valid('true', 'false').default('false'),
  ...{ start: time.default('-1d'), end: time.default('now'), before: time.default(null) },
  limit: Joi.number().integer().min(1).max(MAX_SESSIONS).default(DEFAULT_SESSIONS),
});
export const eventsSchema = Joi.object<Omit<EventsParameters, 'session'>>({ from: time.default(null), to: time.default(null) });
export const logsSchema = Joi.object<Omit<SessionLogsParameters, 'session'>>({
  limit: Joi.number().integer().min(1).max(10_000).default(1000),
  before: time.default(null),
});
export const tracesSchema = Joi.object<Omit<SessionTracesParameters, 'session'>>({
  limit: Joi.number().integer().min(1).max(1000).default(100),
});

/** The parameters of a list of sessions. Throws HttpError 400. */
export function sessionsParameters(query: URLSearchParams): SessionsParameters {
  const { user, url, service, errors, min_length: minLength, ...given } = check(sessionsSchema, single(query, SESSIONS));
  const filters = [
    ...(user === null ? [] : [`user:=${JSON.stringify(user)}`]),
    ...(service === null ? [] : [`service:=${JSON.stringify(service)}`]),
    ...(url === null ? [] : [`urls:~${JSON.stringify(literally(url))}`]),
    ...(errors === 'true' ? ['(errors:>0 or failed_requests:>0)'] : []),
    ...(minLength === null ? [] : [`duration_ms:>=${String(millisecondsOf(minLength))}`]),
  ];
  return { ...given, filter: filters.join(' ') };
}

/** A string as a regular expression. */
const literally = (string: string): string => string.replace(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`);

function millisecondsOf(given: string): number {
  const length = readLength(given.trim());
  if (length === null || length < 0n) throw invalidParameter(`min_length ${JSON.stringify(given)} is not a length of time such as 30s.`);
  return Number(length / 1_000_000n);
}

/** The id of a session in a path. Throws HttpError 400. */
export function sessionOf(id: string | undefined): string {
  if (id === undefined || !SESSION_ID.test(id))
    throw invalidParameter('The id of a session has 1 to 128 characters of A-Z, a-z, 0-9, "_", "-" and ".".');
  return id;
}

export const eventsParameters = (id: string | undefined, query: URLSearchParams): EventsParameters => ({
  session: sessionOf(id),
  ...check(eventsSchema, single(query, EVENTS)),
});

export const sessionLogsParameters = (id: string | undefined, query: URLSearchParams): SessionLogsParameters => ({
  session: sessionOf(id),
  ...check(logsSchema, single(query, SESSION_LOGS)),
});

export const sessionTracesParameters = (id: string | undefined, query: URLSearchParams): SessionTracesParameters => ({
  session: sessionOf(id),
  ...check(tracesSchema, single(query, SESSION_TRACES)),
});

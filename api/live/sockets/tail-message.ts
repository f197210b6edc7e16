import { MAX_QUERY_LENGTH } from '../../../logsql/parser/parser.ts';
import { invalidParameter } from '../../../pipeline/core/errors.ts';
import type { TailRequest } from '../tail-session.ts';
import { readJson } from '../../../pipeline/core/read-json.ts';

/** What a client requests in a message. */
export type TailMessage = TailRequest & { readonly control: boolean };

/** Reads a message: a JSON object with `query`, maybe with `since`, `resume`, `control` and `sample`; other members are not looked at. Throws HttpError 400. */
export function readTailMessage(text: string): TailMessage {
  const message = objectOf(text);
  const query = stringOf(message, 'query');
  if (query === undefined) throw invalidParameter('The message has no `query`: send {"query":"level:error"}.');
  if (query.length > MAX_QUERY_LENGTH && Array.from(query).length > MAX_QUERY_LENGTH)
    throw invalidParameter(`query has more than ${String(MAX_QUERY_LENGTH)} characters.`);
  const [since, resume] = [stringOf(message, 'since'), stringOf(message, 'resume')];
  const control = message.get('control') ?? false;
  if (typeof control !== 'boolean') throw invalidParameter('control must be true or false.');
  const sample = message.get('sample') ?? false;
  if (typeof sample !== 'boolean') throw invalidParameter('sample must be true or false.');
  if (sample && !control) throw invalidParameter('sample needs "control":true: control frames report how much of what matches is sent.');
  return {
    query,
    control,
    ...(sample ? { sample } : {}),
    ...(since === undefined ? {} : { since }),
    ...(resume === undefined ? {} : { resume }),
  };
}

function objectOf(text: string): Map<string, unknown> {
  let value: unknown;
  try {
    value = readJson(text);
  } catch {
    throw invalidParameter('The message is not JSON.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidParameter('The message must be a JSON object.');
  return new Map(Object.entries(value));
}

function stringOf(message: ReadonlyMap<string, unknown>, name: string): string | undefined {
  const value = message.get(name) ?? undefined;
  if (value !== undefined && typeof value !== 'string') throw invalidParameter(`${name} must be a string.`);
  return value;
}

/** How errors look, by the style of a path (`api/http/render-error.ts`), and which statuses operations have without stating them. */
import Joi from 'joi';
import type { Endpoint } from '../http/endpoint.ts';
import { anyMembers, JSON_TYPE, list, members, TEXT_TYPE, text, whole, type Answer, type Operation, type Tag } from '../http/operation.ts';
import type { ErrorStyle } from '../http/render-error.ts';

const plain = { detail: text('What was wrong, and what to do about it.'), request_id: text('As in the header `X-Request-Id`.') };
const ingest = { error: text('A word for what was wrong.'), ...plain };
const wait = { retry_after: whole('Seconds to wait, of a 429.') };

const BODIES: Readonly<Record<Exclude<ErrorStyle, 'text'>, Joi.ObjectSchema>> = {
  query: members(plain),
  ingest: members(ingest, wait),
  hec: members({ ...ingest, text: text(), code: whole() }, { ...wait, 'invalid-event-number': whole() }),
  firehose: members({ ...ingest, requestId: text(), timestamp: whole(), errorMessage: text() }, wait),
  metrics: members({ detail: text() }),
  prometheus: members({ status: Joi.string().valid('error'), errorType: text(), error: text() }),
  promql: members({ status: Joi.string().valid('error'), errorType: text(), error: text() }),
  jaeger: members({ data: Joi.any().valid(null), total: whole(), limit: whole(), offset: whole(), errors: list(anyMembers()) }),
  jaeger_v3: members({ error: members({ httpCode: whole(), message: text() }) }),
};

const TEXTS: Readonly<Record<number, string>> = {
  400: 'The request is wrong: the sentence names what and where.',
  401: 'No key could be read.',
  403: 'The key is unknown, expired or of another tenant, lacks the scope, or the plan does not have this.',
  404: 'There is nothing of this name.',
  405: 'Another method.',
  408: 'The request did not come in time, or its body came too slowly.',
  409: 'Another request changed it meanwhile, or there are as many as there may be.',
  413: 'The body is too large.',
  415: 'A media type or coding that is not taken.',
  422: 'The expression cannot be evaluated.',
  426: 'The path speaks WebSocket alone, or the version is not 13.',
  429: 'Too much at once: wait for `Retry-After` seconds.',
  500: 'A fault of the service; the log has it under the request id.',
  502: 'What the service needed of others failed.',
  503: 'Not ready, or overloaded: try again after `Retry-After` seconds.',
  504: 'The query took too long or too much memory.',
};

/** The schema of an error of this style. */
export function errorAnswer(style: ErrorStyle, status: number): Answer {
  const description = TEXTS[status] ?? 'An error.';
  if (style === 'text') return { description, content: { [TEXT_TYPE]: text(), ...(status === 408 ? { [JSON_TYPE]: BODIES.query } : {}) } };
  // shippers log this one as it is
  const plainly = status === 413 ? { [TEXT_TYPE]: text() } : {};
  // where a request does not come in time, its connection is answered before a path is known
  const body = status === 408 && style !== 'query' ? Joi.alternatives(BODIES[style], BODIES.query) : BODIES[style];
  return { description, content: { [JSON_TYPE]: body, ...plainly } };
}

/** Sections whose lists and single things no rate counts: they are read from memory, or told as often as they change. */
const UNCOUNTED: ReadonlySet<Tag> = new Set(['account', 'alerts', 'rules', 'webhooks', 'service', 'ai']);

/** Whether something in a request can be wrong: names of a path alone are only looked up, but for those with a form. */
function readsAnything({ query, path, body, isForm }: Operation, method: string): boolean {
  const keysOf = (schema: Joi.ObjectSchema | undefined): readonly object[] =>
    Object.values((schema?.describe().keys ?? {}) as object) as object[];
  const hasForm = (key: object): boolean => !('type' in key && key.type === 'string') || 'rules' in key;
  return body !== undefined || (isForm === true && method === 'POST') || keysOf(query).length > 0 || keysOf(path).some(hasForm);
}

/** The statuses of errors that an operation may have. */
export function errorStatuses({ access, errors }: Pick<Endpoint, 'access' | 'errors'>, operation: Operation, method: string): number[] {
  const isQuery = access?.plane === 'app' && errors !== 'metrics';
  const all = [
    ...(access === null ? [] : [401, 403, 503]),
    ...(access === null || !readsAnything(operation, method) ? [] : [400]),
    ...(access === null || (method === 'GET' && UNCOUNTED.has(operation.tag)) ? [] : [429]),
    ...(isQuery ? [504] : []),
    ...(operation.body !== undefined || method === 'POST' ? [408, 413] : []),
    ...(operation.errors ?? []),
    500,
  ];
  return [...new Set(all)]
    .filter((status) => operation.answers[status] === undefined && !(operation.never ?? []).includes(status))
    .sort((a, b) => a - b);
}

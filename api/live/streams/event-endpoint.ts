import { MAX_QUERY_LENGTH } from '../../../logsql/parser/parser.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { EVENTS_TYPE, text, type Operation } from '../../http/operation.ts';
import { checkedQuery } from '../../http/lists.ts';
import Joi from 'joi';
import type { TailRequest } from '../tail-session.ts';
import { streamedTail, type StreamedTailDeps } from './streamed-tail.ts';
import { eventStream } from './tail-text.ts';

/** The headers that make proxies pass on what comes, as it comes. */
const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
};

const QUERY = Joi.object<{ readonly query: string; readonly since?: string; readonly resume?: string }>({
  query: Joi.string()
    .allow('')
    .max(MAX_QUERY_LENGTH)
    .default('*')
    .description('LogsQL without pipes that hold rows back; all entries without it.'),
  since: Joi.string().description('From when on stored entries come first.').example('-5m'),
  resume: Joi.string().description('The id of the last event, as the header `Last-Event-ID`.'),
});
const TAIL: Operation = {
  ...{ id: 'tailEntries', tag: 'live', summary: 'Entries as they come, as Server-Sent Events' },
  query: QUERY,
  answers: { 200: { description: 'Events, until one side ends the connection.', content: { [EVENTS_TYPE]: text() } } },
};

/** `GET /api/v1/tenants/{tenant_id}/tail`: entries as they come, as Server-Sent Events. */
export const eventTail = (deps: StreamedTailDeps): Endpoint => ({
  methods: ['GET'],
  path: '/api/v1/tenants/{tenant_id}/tail',
  operation: TAIL,
  errors: 'query',
  access: { plane: 'app', scope: 'read' },
  isNarrowed: true,
  handle: async (exchange) => {
    const request = readRequest(exchange.query, exchange.header('last-event-id'));
    return { ...(await streamedTail(exchange, request, eventStream, deps)), headers: HEADERS };
  },
});

/** Throws HttpError 400. */
function readRequest(parameters: URLSearchParams, lastEventId: string): TailRequest {
  const { query, since, resume: sent } = checkedQuery(QUERY, parameters);
  const resume = lastEventId === '' ? sent : lastEventId;
  return {
    query: query === '' ? '*' : query,
    ...(since === undefined ? {} : { since }),
    ...(resume === undefined ? {} : { resume }),
  };
}

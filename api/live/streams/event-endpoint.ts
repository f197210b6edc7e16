import { MAX_QUERY_LENGTH } from '../../../logsql/parser/parser.ts';
import { invalidParameter } from '../../../pipeline/core/errors.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import type { TailRequest } from '../tail-session.ts';
import { streamedTail, type StreamedTailDeps } from './streamed-tail.ts';
import { eventStream } from './tail-text.ts';

/** The headers that make proxies pass on what comes, as it comes. */
const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
};

/** `GET /api/v1/tenants/{tenant_id}/tail`: entries as they come, as Server-Sent Events. */
export const eventTail = (deps: StreamedTailDeps): Endpoint => ({
  methods: ['GET'],
  path: '/api/v1/tenants/{tenant_id}/tail',
  errors: 'query',
  access: { plane: 'app', scope: 'read' },
  handle: async (exchange) => {
    const request = readRequest(exchange.query, exchange.header('last-event-id'));
    return { ...(await streamedTail(exchange, request, eventStream, deps)), headers: HEADERS };
  },
});

/** Throws HttpError 400. */
function readRequest(query: URLSearchParams, lastEventId: string): TailRequest {
  const text = query.get('query') ?? '';
  if (Array.from(text).length > MAX_QUERY_LENGTH) throw invalidParameter(`query has more than ${String(MAX_QUERY_LENGTH)} characters.`);
  const since = query.get('since');
  const resume = lastEventId === '' ? query.get('resume') : lastEventId;
  return { query: text, ...(since === null ? {} : { since }), ...(resume === null ? {} : { resume }) };
}

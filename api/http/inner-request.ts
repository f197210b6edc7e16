import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { authorize } from '../auth/authenticate.ts';
import type { Endpoint } from './endpoint.ts';
import { Exchange } from './exchange.ts';
import type { RouteAnswer } from './route.ts';

/** A request that an endpoint makes of another one of the same host. */
export type InnerRequest = {
  readonly method: string;
  /** Parts of the path by name, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Sent as JSON. */
  readonly body?: unknown;
};

/**
 * Has an endpoint answer a request in the name of who sent the outer one: the same key, scope, limits and request id, and it ends with the same client.
 * Throws what the endpoint throws, and HttpError 403 where the key lacks its scope.
 */
export async function answerInside(outer: Exchange, endpoint: Endpoint, inner: InnerRequest): Promise<RouteAnswer> {
  if (endpoint.access === null) throw new Error('BUG: an inner request to a path that asks for no key.');
  const exchange = new Exchange(messageOf(outer, endpoint, inner), outer.response, outer.signal);
  exchange.template = endpoint.path;
  exchange.params = inner.params;
  exchange.principal = outer.principal;
  exchange.checkKey = outer.checkKey;
  authorize(outer.principal, endpoint.access.scope, inner.params['tenant_id']);
  return endpoint.handle(exchange);
}

/** The request as a handler reads it. */
function messageOf(outer: Exchange, { path }: Endpoint, { method, params, query, body }: InnerRequest): IncomingMessage {
  const bytes = body === undefined ? null : Buffer.from(JSON.stringify(body));
  const concrete = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const search = query.toString();
  return Object.assign(Readable.from(bytes === null ? [] : [bytes]), {
    method,
    url: search === '' ? concrete : `${concrete}?${search}`,
    httpVersion: '1.1',
    headers: {
      'x-request-id': outer.requestId,
      ...(bytes === null ? {} : { 'content-type': 'application/json', 'content-length': String(bytes.length) }),
    },
  }) as unknown as IncomingMessage;
}

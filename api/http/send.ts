import type { ServerResponse } from 'node:http';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isElasticPath } from '../auth/planes.ts';
import { drainBody, unreadBody } from './drain.ts';
import type { Exchange } from './exchange.ts';
import type { RouteAnswer } from './route.ts';

const JSON_LINES_TYPE = 'application/x-ndjson; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';
/** Elastic's clients compare the media type with this very text. */
const ELASTIC_JSON_TYPE = 'application/json';

/** A browser takes an answer for what its `Content-Type` says, never for what its bytes look like. */
const NO_SNIFFING = { 'X-Content-Type-Options': 'nosniff' };

/** Writes the answer, and sees to what the client may still be sending. `extra`: headers that this host or path always adds. */
export async function send(
  exchange: Exchange,
  answer: RouteAnswer,
  extra: Readonly<Record<string, string>>,
  closing: boolean,
): Promise<void> {
  const { request, response } = exchange;
  if (response.headersSent || response.destroyed) return;
  const body = bodyBytes(answer.body);
  const headers: Record<string, string | number> = { 'X-Request-Id': exchange.requestId, ...NO_SNIFFING, ...extra };
  if (isElasticPath(exchange.path)) headers['X-Elastic-Product'] = 'Elasticsearch';
  if (body.length > 0) headers['Content-Type'] = isElasticPath(exchange.path) ? ELASTIC_JSON_TYPE : JSON_TYPE;
  if (answer.stream !== undefined) headers['Content-Type'] = JSON_LINES_TYPE;
  Object.assign(headers, answer.headers);
  if (answer.stream === undefined && answer.status !== 204)
    headers['Content-Length'] = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  const unread = unreadBody(request);
  if (closing || unread === 'long') headers['Connection'] = 'close';
  response.writeHead(answer.status, headers);
  if (answer.stream !== undefined) {
    await sendStream(answer.stream, response, request.method !== 'HEAD');
    if (unread !== 'nothing') await drainBody(request);
    return;
  }
  const withBody = request.method !== 'HEAD' && body.length > 0;
  if (unread === 'long') {
    // the whole answer goes out now; only its end, which closes the connection, waits
    if (withBody) response.write(body);
    else response.flushHeaders();
    await drainBody(request);
    response.end();
    return;
  }
  if (withBody) response.end(body);
  else response.end();
  if (unread === 'short' && !(await drainBody(request))) request.socket.destroy();
}

/** Sends texts as the client takes them. Where the stream throws, the answer is cut off, so that nobody takes it for whole. */
async function sendStream(stream: NonNullable<RouteAnswer['stream']>, response: ServerResponse, withBody: boolean): Promise<void> {
  if (withBody) {
    // the first text may be long in coming
    response.flushHeaders();
    await pipeline(Readable.from(stream), response).catch(ignore);
    return;
  }
  // begun and left, so that it ends what stands behind it
  const texts = Readable.from(stream);
  await once(texts, 'readable').catch(ignore);
  texts.destroy();
  response.end();
}

function ignore(): void {
  /* the client has gone, or sees that its answer was cut off */
}

function bodyBytes(body: RouteAnswer['body']): string | Buffer {
  if (body === undefined) return '';
  return typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
}

import { once } from 'node:events';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { HttpError } from '../../pipeline/core/errors.ts';
import { isElasticPath } from '../auth/planes.ts';
import { preferredCoding } from './answer-coding.ts';
import type { AnswerCompression, StreamCoder, Texts } from './answer-compression.ts';
import { drainBody, unreadBody } from './drain.ts';
import type { Exchange } from './exchange.ts';
import type { RouteAnswer } from './route.ts';

const JSON_LINES_TYPE = 'application/x-ndjson; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';
/** Elastic's clients compare the media type with exactly this string. */
const ELASTIC_JSON_TYPE = 'application/json';

/** A browser takes the type of an answer from its `Content-Type`, never from its bytes. */
const NO_SNIFFING = { 'X-Content-Type-Options': 'nosniff' };

/** From this number of bytes on a body is compressed. */
const MIN_CODED_BYTES = 1024;

export type SendOptions = {
  /** Headers that this host or path always adds. */
  readonly headers: Readonly<Record<string, string>>;
  /** The connection is closed after the answer. */
  readonly closing: boolean;
  /** Compresses what the client accepts compressed; null: the path's answers are sent as they are. */
  readonly compression: AnswerCompression | null;
  /** Is given what a stream threw after its head was sent, before the connection is closed. */
  readonly onFailed: (thrown: unknown) => void;
};

/** Writes the answer, and sees to what the client may still be sending. */
export async function send(exchange: Exchange, answer: RouteAnswer, options: SendOptions): Promise<void> {
  const { request, response } = exchange;
  if (response.headersSent || exchange.isClosed()) return;
  const { body, coder, codingHeaders } = await coded(exchange, answer, options);
  if (exchange.isClosed()) return;
  const headers: Record<string, string | number> = { 'X-Request-Id': exchange.requestId, ...NO_SNIFFING, ...options.headers };
  if (isElasticPath(exchange.path)) headers['X-Elastic-Product'] = 'Elasticsearch';
  if (body.length > 0) headers['Content-Type'] = isElasticPath(exchange.path) ? ELASTIC_JSON_TYPE : JSON_TYPE;
  if (answer.stream !== undefined) headers['Content-Type'] = JSON_LINES_TYPE;
  const vary = [options.headers, codingHeaders].flatMap((own) => own['Vary'] ?? []).join(', ');
  Object.assign(headers, codingHeaders, vary === '' ? {} : { Vary: vary }, answer.headers);
  if (answer.stream === undefined && answer.status !== 204) headers['Content-Length'] = sizeOf(body);
  const unread = unreadBody(request);
  if (options.closing || unread === 'long') headers['Connection'] = 'close';
  response.writeHead(answer.status, headers);
  if (answer.stream !== undefined) {
    await sendStream(exchange, answer.stream, coder, options);
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

/** An answer in the coding that is sent, and the headers that name it. */
type Coded = {
  readonly body: string | Buffer;
  readonly coder: StreamCoder | null;
  readonly codingHeaders: Readonly<Record<string, string>>;
};

/** Compresses what is large enough, or a stream, for a client that accepts it. HEAD is answered as for one that does not. */
async function coded(exchange: Exchange, answer: RouteAnswer, { compression }: SendOptions): Promise<Coded> {
  const body = bodyBytes(answer.body);
  const isStream = answer.stream !== undefined;
  if (compression === null || (!isStream && sizeOf(body) < MIN_CODED_BYTES)) return { body, coder: null, codingHeaders: {} };
  const asItIs = { body, coder: null, codingHeaders: { Vary: 'Accept-Encoding' } };
  const coding = exchange.method === 'HEAD' ? null : preferredCoding(exchange.header('accept-encoding'));
  if (coding === null) return asItIs;
  const codingHeaders = { Vary: 'Accept-Encoding', 'Content-Encoding': coding };
  if (isStream) {
    const coder = compression.stream(coding);
    return coder === null ? asItIs : { body, coder, codingHeaders };
  }
  const whole = typeof body === 'string' ? Buffer.from(body) : body;
  const compressed =
    answer.isConstant === true ? compression.constantBody(whole, coding) : compression.body(whole, coding, exchange.signal);
  const bytes = await compressed.catch(() => null);
  return bytes === null ? asItIs : { body: bytes, coder: null, codingHeaders };
}

const sizeOf = (body: string | Buffer): number => (typeof body === 'string' ? Buffer.byteLength(body) : body.length);

/** Sends strings as the client takes them. Where the stream throws, the answer is cut off, so that no client takes it for complete. */
async function sendStream(exchange: Exchange, stream: Texts, coder: StreamCoder | null, { onFailed }: SendOptions): Promise<void> {
  const { request, response } = exchange;
  const texts = watched(stream, async (thrown) => {
    // the client has disconnected, which is the reason; there is no one to notify
    if (exchange.isClosed() || (thrown instanceof HttpError && thrown.slug === 'client_gone')) return;
    onFailed(thrown);
    if (request.httpVersion !== '1.0') return;
    // without chunks an end that is in order looks like the end of the answer; a reset takes back what was not written by then
    await turn();
    request.socket.resetAndDestroy();
  });
  if (request.method !== 'HEAD') {
    // the first string may be long in coming
    response.flushHeaders();
    const sent = coder === null ? pipeline(Readable.from(texts), response) : pipeline(coder.flushing(texts), coder.coder, response);
    await sent.catch(ignore);
    return;
  }
  // begun and left, so that it ends what stands behind it
  const begun = Readable.from(texts);
  await once(begun, 'readable').catch(ignore);
  begun.destroy();
  response.end();
}

async function* watched(texts: Texts, onFailed: (thrown: unknown) => Promise<void>): AsyncGenerator<string | Uint8Array> {
  try {
    yield* texts;
  } catch (thrown) {
    await onFailed(thrown);
    throw thrown;
  }
}

function ignore(): void {
  /* the client has disconnected, or sees that its answer was cut off */
}

function bodyBytes(body: RouteAnswer['body']): string | Buffer {
  if (body === undefined) return '';
  return typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
}

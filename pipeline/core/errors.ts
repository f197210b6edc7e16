import { CorruptBytes } from './corrupt-bytes.ts';

/** Errors that are returned to clients. One factory each, so that a slug, a status and a sentence exist once. */

/** What a renderer may add to an error's answer. */
export type ErrorOptions = {
  /** Seconds to wait, for the body of the ingest plane and the `Retry-After` header. */
  readonly retryAfter?: number;
  /** Methods for the `Allow` header of a 405. */
  readonly allow?: readonly string[];
  /** Rendered as text/plain instead of JSON (a body cut by the HTTP layer). */
  readonly plainText?: true;
  /** Splunk's number of the error, for the HEC paths, where the status alone does not identify it. */
  readonly code?: number;
  /** Place of the event that is at fault, for HEC's `invalid-event-number`. */
  readonly eventNumber?: number;
  readonly cause?: unknown;
};

/** A request that is refused: HTTP status, the ingest plane's slug, and a sentence with what was wrong and the bound. */
export class HttpError extends Error {
  readonly status: number;
  readonly slug: string;
  readonly options: ErrorOptions;
  constructor(status: number, slug: string, detail: string, options: ErrorOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'HttpError';
    this.status = status;
    this.slug = slug;
    this.options = options;
  }
}

export const unauthorized = (detail: string): HttpError => new HttpError(401, 'unauthorized', detail);
export const forbidden = (detail: string, options: ErrorOptions = {}): HttpError => new HttpError(403, 'forbidden', detail, options);
export const notFound = (detail = 'No such path.'): HttpError => new HttpError(404, 'not_found', detail);
/** What is answered for an error that states what was wrong with a request; null for any other. */
export const httpErrorOf = (thrown: unknown): HttpError | null =>
  thrown instanceof HttpError ? thrown : thrown instanceof CorruptBytes ? invalidBody(thrown.message) : null;

export const invalidBody = (detail: string, options: ErrorOptions = {}): HttpError => new HttpError(400, 'invalid_body', detail, options);
export const invalidParameter = (detail: string): HttpError => new HttpError(400, 'invalid_parameter', detail);

export const methodNotAllowed = (method: string, allow: readonly string[]): HttpError =>
  new HttpError(405, 'method_not_allowed', `Method ${method} is not allowed here; use ${allow.join(' or ')}.`, { allow });

export const unsupportedEncoding = (encoding: string): HttpError =>
  new HttpError(400, 'unsupported_encoding', `Content-Encoding ${JSON.stringify(encoding)} is not supported; use gzip, zstd or snappy.`);

/** 413. `received` is exact, or the count at which reading stopped (`more`). Plain text where the HTTP layer cut an uncompressed body. */
export const payloadTooLarge = (
  received: number,
  cap: number,
  options: { readonly more?: boolean; readonly inflated?: boolean; readonly plainText?: true; readonly advice?: string } = {},
): HttpError =>
  new HttpError(
    413,
    'payload_too_large',
    `The ${options.inflated === true ? 'decompressed ' : ''}body has ${options.more === true ? 'more than ' : ''}${String(received)} bytes; the cap is ${String(cap)} bytes.${options.advice ? ` ${options.advice}` : ''}`,
    options.plainText === true ? { plainText: true } : {},
  );

/** 413 of a path that names the cap alone. */
export const bodyOverCap = (cap: number, isInflated: boolean): HttpError =>
  new HttpError(413, 'payload_too_large', `The ${isInflated ? 'decompressed ' : ''}body is over the cap of ${String(cap)} bytes.`);

/** 413 of a session that has more, or lasts longer, than one may. `detail`: a sentence. */
export const sessionTooLarge = (detail: string): HttpError => new HttpError(413, 'session_too_large', detail);

/** 503 in place of a 429 that is over soon: Prometheus and others drop what a 429 refuses. It names no feature. */
export const overloaded = (cause: HttpError): HttpError =>
  new HttpError(503, cause.slug, cause.message, { retryAfter: cause.options.retryAfter ?? 5, cause });

/** 408: the body comes too slowly while its memory is needed. `bytes`: the least rate, a second. */
export const slowBody = (bytes: number): HttpError =>
  new HttpError(408, 'request_timeout', `The body came at less than ${String(bytes)} bytes a second while this node needed its memory.`);

/** 408: the message of a call has not come in time. `ms`: how long it was waited for. */
export const slowMessage = (ms: number): HttpError =>
  new HttpError(408, 'request_timeout', `The message did not come within ${String(ms)} ms.`);

/** 429: the pipeline behind cannot take more now; clients wait 5 s. */
export const backpressure = (detail = 'The log pipeline cannot take more entries right now.'): HttpError =>
  new HttpError(429, 'backpressure', detail, { retryAfter: 5 });

/** 429: more than a rate or a volume allows. `retryAfter`: seconds. */
export const rateLimited = (detail: string, retryAfter: number): HttpError => new HttpError(429, 'rate_limited', detail, { retryAfter });

/** 429: the log must not grow now; clients wait 10 s. `reason`: a sentence. */
export const walFull = (reason: string): HttpError =>
  new HttpError(429, 'wal_full', `The write-ahead log takes no more entries. ${reason}`, { retryAfter: 10 });

/** 503: the key could be neither found in memory nor looked up. Transient. */
export const authUnavailable = (): HttpError =>
  new HttpError(503, 'auth_unavailable', 'The authentication backend cannot be reached; retry later.', { retryAfter: 5 });

/** A gate of the plan, not an outage: 403 or 503 with a detail that names the feature, and nothing to wait for. */
export const planGate = (status: 403 | 503, detail: string): HttpError => new HttpError(status, 'plan_gate', detail);

/** 504: the query ran longer, or needed more memory, than it may. */
export const queryTimeout = (detail: string): HttpError => new HttpError(504, 'query_timeout', detail);

/** The client has closed the connection before its answer was whole; no one gets to read this. The status is the one that proxies log for it. */
export const clientClosed = (): HttpError =>
  new HttpError(499, 'client_gone', 'The client closed the connection before its response was complete.');

/** 503: the cold volume of ClickHouse cannot be reached. Transient. */
export const coldUnavailable = (cause?: unknown): HttpError => {
  const detail = 'The store of old entries cannot be reached; retry later, or search a newer time range.';
  return new HttpError(503, 'store_unavailable', detail, { retryAfter: 30, cause });
};

/** 503: ClickHouse cannot be reached. Transient. */
export const storeUnavailable = (cause?: unknown): HttpError =>
  new HttpError(503, 'store_unavailable', 'The log store cannot be reached; retry later.', { retryAfter: 5, cause });

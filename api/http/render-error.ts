import { HttpError } from '../../pipeline/core/errors.ts';
import type { RouteAnswer } from './route.ts';

/**
 * How a path words its errors: logs and traces (plain, or with the keys that Splunk's or Firehose's clients read), metrics,
 * VictoriaLogs' read API (text, or Prometheus' keys), Jaeger's query API (its own envelope, and that of its version 3), or the rest.
 */
export type ErrorStyle = 'ingest' | 'hec' | 'firehose' | 'metrics' | 'text' | 'prometheus' | 'promql' | 'jaeger' | 'jaeger_v3' | 'query';

/** What of a request its error's answer may repeat. `header` returns the empty string for an absent header. */
export type ErrorRequest = { readonly requestId: string; header(name: string): string };

type Render = (error: HttpError, request: ErrorRequest) => object;

const ingest: Render = (error, { requestId }) => ({
  error: error.slug,
  detail: error.message,
  request_id: requestId,
  ...(error.status === 429 ? { retry_after: error.options.retryAfter ?? 1 } : {}),
});

const BODIES: Readonly<Record<Exclude<ErrorStyle, 'text'>, Render>> = {
  ingest,
  hec: (error, request) => ({ ...hecKeys(error), ...ingest(error, request) }),
  firehose: (error, request) => ({
    requestId: request.header('x-amz-firehose-request-id') || request.requestId,
    timestamp: Date.now(),
    errorMessage: error.message,
    ...ingest(error, request),
  }),
  metrics: (error) => ({ detail: error.message }),
  // https://prometheus.io/docs/prometheus/latest/querying/api/#format-overview
  prometheus: (error) => ({ status: 'error', errorType: String(error.status), error: error.message }),
  // prometheus/prometheus, web/api/v1/api.go
  promql: (error) => ({ status: 'error', errorType: PROMQL_TYPES[error.status] ?? 'internal', error: error.message }),
  // jaegertracing/jaeger, jaegerquery/internal/http_handler.go and apiv3/http_gateway.go
  jaeger: (error) => ({ data: null, total: 0, limit: 0, offset: 0, errors: [{ code: error.status, msg: error.message }] }),
  jaeger_v3: (error) => ({ error: { httpCode: error.status, message: error.message } }),
  query: (error, { requestId }) => ({ detail: error.message, request_id: requestId }),
};

/** Prometheus' words for what went wrong, by status; a request without a good key is bad, too. */
const PROMQL_TYPES: Readonly<Record<number, string>> = {
  ...{ 400: 'bad_data', 401: 'bad_data', 403: 'bad_data', 404: 'not_found', 405: 'bad_data', 413: 'bad_data', 422: 'execution' },
  ...{ 429: 'unavailable', 503: 'unavailable', 504: 'timeout' },
};

/** Splunk's errors by their numbers (Splunk Enterprise, "Troubleshoot HTTP Event Collector"). */
const HEC_TEXTS: Readonly<Record<number, string>> = {
  1: 'Token disabled',
  2: 'Token is required',
  4: 'Invalid token',
  5: 'No data',
  6: 'Invalid data format',
  8: 'Internal server error',
  9: 'Server is busy',
  10: 'Data channel is missing',
  11: 'Invalid data channel',
  12: 'Event field is required',
  13: 'Event field cannot be blank',
  14: 'ACK is disabled',
  15: 'Error in handling indexed fields',
  27: 'Request entity too large',
};
const HEC_CODES: Readonly<Record<number, number>> = { 400: 6, 401: 2, 403: 4, 413: 27, 429: 9, 500: 8, 503: 9 };

/** The keys of Splunk's own answer; a status for which it has no number stands for itself. */
function hecKeys(error: HttpError): object {
  const { code = HEC_CODES[error.status] ?? error.status, eventNumber } = error.options;
  return {
    text: HEC_TEXTS[code] ?? error.message,
    code,
    ...(eventNumber === undefined ? {} : { 'invalid-event-number': eventNumber }),
  };
}

/** The answer for an error, in the style of its path. */
export function renderError(error: HttpError, style: ErrorStyle, request: ErrorRequest): RouteAnswer {
  const { retryAfter, allow, plainText } = error.options;
  const headers: Record<string, string> = {};
  if (retryAfter !== undefined && (error.status === 429 || error.status === 503)) headers['Retry-After'] = String(retryAfter);
  if (allow !== undefined) headers['Allow'] = allow.join(', ');
  if (error.status === 401) headers['WWW-Authenticate'] = 'Bearer realm="logweir"';
  if (plainText !== true && style !== 'text') return { status: error.status, headers, body: BODIES[style](error, request) };
  return { status: error.status, headers: { ...headers, 'Content-Type': 'text/plain; charset=utf-8' }, body: `${error.message}\n` };
}

/** What a client is sent for an unexpected error; the log has the rest. */
export function internalError(cause: unknown): HttpError {
  return new HttpError(500, 'internal_error', 'The service failed on this request; the operator finds the reason under its request id.', {
    cause,
  });
}

import { HttpError } from '../../pipeline/core/errors.ts';
import type { RouteAnswer } from './route.ts';

/** How a path words its errors: logs and traces, metrics, or everything else. */
export type ErrorStyle = 'ingest' | 'metrics' | 'query';

type Render = (error: HttpError, requestId: string) => object;

const BODIES: Readonly<Record<ErrorStyle, Render>> = {
  ingest: (error, requestId) => ({
    error: error.slug,
    detail: error.message,
    request_id: requestId,
    ...(error.status === 429 ? { retry_after: error.options.retryAfter ?? 1 } : {}),
  }),
  metrics: (error) => ({ detail: error.message }),
  query: (error, requestId) => ({ detail: error.message, request_id: requestId }),
};

/** The answer for an error, in the style of its path. */
export function renderError(error: HttpError, style: ErrorStyle, requestId: string): RouteAnswer {
  const { retryAfter, allow, plainText } = error.options;
  const headers: Record<string, string> = {};
  if (retryAfter !== undefined && (error.status === 429 || error.status === 503)) headers['Retry-After'] = String(retryAfter);
  if (allow !== undefined) headers['Allow'] = allow.join(', ');
  if (error.status === 401) headers['WWW-Authenticate'] = 'Bearer realm="logweir"';
  if (plainText !== true) return { status: error.status, headers, body: BODIES[style](error, requestId) };
  return { status: error.status, headers: { ...headers, 'Content-Type': 'text/plain; charset=utf-8' }, body: `${error.message}\n` };
}

/** What a client is told of an error that nobody foresaw; the log has the rest. */
export function internalError(cause: unknown): HttpError {
  return new HttpError(500, 'internal_error', 'The service failed on this request; the operator finds the reason under its request id.', {
    cause,
  });
}

import type { Exchange } from './exchange.ts';
import type { RouteAnswer } from './route.ts';

const ALLOWED_HEADERS =
  'Authorization, X-API-Key, Content-Type, Content-Encoding, X-Request-Id, X-Session-Id, X-Stream-Fields, VL-Stream-Fields';
const EXPOSED_HEADERS = 'X-Request-Id, Retry-After, X-Rejected-Entries, X-Limited-Streams, X-Set';
const MAX_AGE_SECONDS = 600;

/** The headers of any answer to this origin; none where it is not on the list. Keys travel in headers, never in cookies. */
export function corsHeaders(origins: readonly string[], origin: string): Readonly<Record<string, string>> {
  if (origins.length === 0) return {};
  if (origin === '' || !(origins.includes(origin) || origins.includes('*'))) return { Vary: 'Origin' };
  return { 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': EXPOSED_HEADERS, Vary: 'Origin' };
}

/** True for a browser's question whether it may send the request that it really means. */
export function isPreflight(exchange: Exchange): boolean {
  return (
    exchange.request.method === 'OPTIONS' && exchange.header('origin') !== '' && exchange.header('access-control-request-method') !== ''
  );
}

/** The answer to a preflight of a path that exists; an origin that is not on the list gets no leave, which browsers take as a no. */
export function preflight(allowed: Readonly<Record<string, string>>, methods: readonly string[]): RouteAnswer {
  const known = 'Access-Control-Allow-Origin' in allowed;
  return {
    status: 204,
    headers: known
      ? {
          'Access-Control-Allow-Methods': methods.join(', '),
          'Access-Control-Allow-Headers': ALLOWED_HEADERS,
          'Access-Control-Max-Age': String(MAX_AGE_SECONDS),
        }
      : {},
  };
}

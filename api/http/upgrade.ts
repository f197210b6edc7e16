import type { IncomingMessage } from 'node:http';

/** True for a request for a WebSocket (RFC 6455, 4.1), which has no body. Any other protocol is an offer that may be declined. */
export function requestsWebSocket({ method, headers }: IncomingMessage): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
  return method === 'GET' && !hasBody && (headers.upgrade ?? '').split(',').some((name) => name.trim().toLowerCase() === 'websocket');
}

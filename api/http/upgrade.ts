import type { IncomingMessage } from 'node:http';

/** True for a request for a WebSocket (RFC 6455, 4.1). Any other protocol is an offer that may be declined. */
export function requestsWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && (headers.upgrade ?? '').split(',').some((name) => name.trim().toLowerCase() === 'websocket');
}

const OFFER = new Set(['upgrade', 'connection', 'http2-settings']);

/** The head of a request as it came, but without its offer of another protocol (RFC 9110, 7.8), to be read once more. */
export function withoutOffer({ method, url, httpVersion, rawHeaders, headers }: IncomingMessage): Buffer {
  const lines = [`${method ?? ''} ${url ?? ''} HTTP/${httpVersion}`];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (!OFFER.has(name.toLowerCase())) lines.push(`${name}: ${rawHeaders[i + 1] ?? ''}`);
  }
  if (/(?:^|,)\s*close\s*(?:,|$)/i.test(headers.connection ?? '')) lines.push('Connection: close');
  // Node gives the bytes of headers as the characters of this encoding
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

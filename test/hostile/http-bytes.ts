import type { Target } from './attack.ts';

/** The head of a request; `headers`: further lines. */
export function head({ key }: Target, method: string, path: string, headers: readonly string[] = []): string {
  return [`${method} ${path} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${key}`, ...headers, '', ''].join('\r\n');
}
/** A request with a body of JSON. */
export function post(target: Target, path: string, body: string, headers: readonly string[] = []): string {
  return (
    head(target, 'POST', path, ['Content-Type: application/json', `Content-Length: ${String(Buffer.byteLength(body))}`, ...headers]) + body
  );
}

/** The head of a request for a WebSocket that tails. */
export const upgrade = (target: Target): string =>
  head(target, 'GET', `/ws/livetail/${String(target.tenantId)}`, [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  ]);

/** A frame of a client, its mask all zeros; by default a whole text. */
export function frameOf(payload: string, first = 0x81): Buffer {
  const { length } = Buffer.from(payload);
  if (length > 65_535) throw new RangeError('Frames of at most 65,535 bytes.');
  const size = length < 126 ? [0x80 | length] : [0x80 | 126, length >> 8, length & 255];
  return Buffer.from([first, ...size, 0, 0, 0, 0, ...Buffer.from(payload)]);
}

import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that passed the wire: when its first byte came (Unix ms), and the status it was answered. */
export type Passed = {
  readonly method: string;
  readonly path: string;
  readonly contentType: string;
  readonly contentEncoding: string;
  readonly arrivedAt: number;
  readonly status: number;
  readonly body: Buffer;
};

export type Wire = { readonly port: number; readonly passed: readonly Passed[]; close(): Promise<void> };

/**
 * A relay between a shipper and the service that notes each request and changes nothing of it. It takes 20 ms for the way, so that a
 * shipper's own timestamps can be told from the service's time of arrival. With `refuseFirst` the first upload is answered as the
 * service answers under backpressure: 429, or the `status` of its plane, try again in a second.
 */
export async function startWire(
  target: string,
  { refuseFirst, status: refusal = 429 }: { readonly refuseFirst: boolean; readonly status?: number },
): Promise<Wire> {
  const passed: Passed[] = [];
  let refusals = refuseFirst ? 1 : 0;
  const server = http.createServer((request, response) => {
    const arrivedAt = Date.now();
    const chunks: Buffer[] = [];
    const header = (name: string): string => String(request.headers[name] ?? '');
    const note = (status: number): void => {
      const { method = '', url = '' } = request;
      const path = url.replace(/\?.*/, '');
      const [contentType, contentEncoding] = [header('content-type'), header('content-encoding')];
      passed.push({ method, path, contentType, contentEncoding, arrivedAt, status, body: Buffer.concat(chunks) });
    };
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (refusals > 0 && (request.method === 'POST' || request.method === 'PUT')) {
        refusals -= 1;
        note(refusal);
        response.writeHead(refusal, { 'Content-Type': 'application/json', 'Retry-After': '1', 'X-Elastic-Product': 'Elasticsearch' });
        response.end('{"error":"backpressure","detail":"Too much waits.","retry_after":1,"request_id":"relay"}');
      } else setTimeout(() => relay(target, request, Buffer.concat(chunks), response, note), 20);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    passed,
    close: () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}

function relay(
  target: string,
  { method, url, rawHeaders }: http.IncomingMessage,
  body: Buffer,
  response: http.ServerResponse,
  note: (status: number) => void,
): void {
  const onward = http.request(new URL(url ?? '/', target), { method, headers: rawHeaders, agent: false }, (answer) => {
    note(answer.statusCode ?? 0);
    response.writeHead(answer.statusCode ?? 0, answer.rawHeaders);
    answer.pipe(response);
  });
  onward.on('error', () => {
    note(0);
    response.destroy();
  });
  onward.end(body);
}

import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that has come. */
export type Received = { readonly body: string; readonly signature: string; readonly id: string };

/** Who is told by a webhook: it takes nothing (503) until `status` is another one. */
export type Receiver = { readonly url: string; status: number; readonly got: Received[]; readonly taken: Received[]; stop(): void };

export async function startReceiver(): Promise<Receiver> {
  const server = http.createServer((request, response) => {
    const parts: Buffer[] = [];
    request
      .on('data', (part: Buffer) => parts.push(part))
      .on('end', () => {
        const { headers } = request;
        const one = {
          body: Buffer.concat(parts).toString(),
          signature: String(headers['x-logweir-signature']),
          id: String(headers['x-logweir-delivery']),
        };
        receiver.got.push(one);
        if (receiver.status === 200) receiver.taken.push(one);
        response.writeHead(receiver.status).end();
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = (): void => {
    server.closeAllConnections();
    server.close();
  };
  const receiver: Receiver = {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`,
    status: 503,
    got: [],
    taken: [],
    stop,
  };
  return receiver;
}

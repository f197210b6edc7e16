import http from 'node:http';

/** What a recorder sends to, which answers as a test says. */
export type StubService = {
  readonly url: string;
  /** What `/api/v1/ingest` and `/v1/rum/replay` answer; a 503 of the latter is the gate of a plan. */
  ingest: number;
  replay: number;
  /** Requests to either, preflights apart. */
  readonly requests: { ingest: number; replay: number };
  /** The entries that were taken. */
  readonly entries: Readonly<Record<string, unknown>>[];
  stop(): Promise<void>;
};

const CORS = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': 'authorization, content-type, content-encoding' };

/** What a plan without replay answers, with 503. */
const GATE = JSON.stringify({ detail: 'For this account session replay is not enabled; other events still arrive.' });

/** Starts one on this port. */
export async function startStubService(port: number): Promise<StubService> {
  const server = http.createServer((request, response) => {
    if (request.method === 'OPTIONS') {
      response.writeHead(204, CORS).end();
      return;
    }
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const path = request.url?.startsWith('/api/v1/ingest') === true ? 'ingest' : 'replay';
      const status = service[path];
      service.requests[path] += 1;
      if (path === 'ingest' && status === 200)
        for (const line of Buffer.concat(chunks).toString().trim().split('\n'))
          service.entries.push(JSON.parse(line) as Readonly<Record<string, unknown>>);
      response.writeHead(status, CORS).end(status === 503 && path === 'replay' ? GATE : '{}');
    });
  });
  const service: StubService = {
    ...{ url: `http://127.0.0.1:${String(port)}`, ingest: 200, replay: 202, requests: { ingest: 0, replay: 0 }, entries: [] },
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => {
          resolve();
        });
      }),
  };
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return service;
}

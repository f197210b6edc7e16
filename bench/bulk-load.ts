import http from 'node:http';
import { benchLogs } from './wire/logs.ts';
import { wireBodies } from './wire/bodies.ts';

/** Bodies of Elasticsearch's bulk, each of `entries` logs of the last minutes. */
export function bulkBodies(count: number, entries: number, now: number): Buffer[] {
  return Array.from({ length: count }, (_, seed) => {
    const bulk = wireBodies(benchLogs(entries, now, seed)).find(({ normalizer }) => normalizer === 'es_bulk');
    if (bulk === undefined) throw new Error('BUG: There is no bulk body.');
    return bulk.body;
  });
}

export type BulkLoad = {
  readonly url: string;
  readonly key: string;
  /** Sent in turns. */
  readonly bodies: readonly Buffer[];
  readonly requests: number;
  readonly connections: number;
};

const RETRY_MS = 200;

/** Sends requests over a few connections that are kept alive, each as soon as the one before was acknowledged; gives how often one was refused (429) and sent again. */
export async function sendBulk({ url, key, bodies, requests, connections }: BulkLoad): Promise<number> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/x-ndjson' };
  let [next, refused] = [0, 0];
  const work = async (): Promise<void> => {
    while (next < requests) {
      const body = bodies[next++ % bodies.length] as Buffer;
      while (!(await acknowledged(`${url}/_bulk`, { agent, headers }, body))) {
        refused += 1;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: connections }, work));
  } finally {
    agent.destroy();
  }
  return refused;
}

/** False where the request was refused for now (429); throws where it was not taken whole. */
function acknowledged(url: string, options: http.RequestOptions, body: Buffer): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method: 'POST', ...options }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(parts).toString();
        if (response.statusCode === 200 && text.includes('"errors":false')) resolve(true);
        else if (response.statusCode === 429) resolve(false);
        else reject(new Error(`The load was answered ${String(response.statusCode)}: ${text.slice(0, 300)}`));
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

import http from 'node:http';

export type LoadRequest = {
  readonly url: string;
  readonly key: string;
  readonly contentType: string;
  readonly encoding?: string;
  readonly body: Buffer;
};

export type LoadAnswer = { readonly status: number; readonly text: string };

const RETRY_MS = 200;

/** Sends requests over connections that are kept open, so many at most. */
export class LoadConnections {
  readonly #agent: http.Agent;

  constructor(connections: number) {
    this.#agent = new http.Agent({ keepAlive: true, maxSockets: connections });
  }

  send({ url, key, contentType, encoding, body }: LoadRequest): Promise<LoadAnswer> {
    const headers = {
      Authorization: `Bearer ${key}`,
      'Content-Type': contentType,
      'Content-Length': body.length,
      ...(encoding === undefined ? {} : { 'Content-Encoding': encoding }),
    };
    return new Promise((resolve, reject) => {
      const request = http.request(url, { method: 'POST', agent: this.#agent, headers }, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString() });
        });
      });
      request.on('error', reject);
      request.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

export type AllOptions = {
  readonly count: number;
  readonly connections: number;
  /** The request of this number. */
  readonly request: (number: number) => LoadRequest;
};

/**
 * Sends so many requests, each connection the next one as soon as the one before was acknowledged; gives how often one was refused for now
 * (429) and sent again. Throws where one was not taken whole.
 */
export async function sendAll({ count, connections, request }: AllOptions): Promise<number> {
  const open = new LoadConnections(connections);
  let [next, refused] = [0, 0];
  const work = async (): Promise<void> => {
    while (next < count) {
      const wanted = request(next++);
      for (;;) {
        const { status, text } = await open.send(wanted);
        if (status >= 200 && status < 300 && !text.includes('"errors":true')) break;
        if (status !== 429) throw new Error(`The load was answered ${String(status)}: ${text.slice(0, 300)}`);
        refused += 1;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: connections }, work));
  } finally {
    open.close();
  }
  return refused;
}

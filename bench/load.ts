import net from 'node:net';

export type LoadRequest = {
  readonly url: string;
  readonly key: string;
  readonly contentType: string;
  readonly encoding?: string;
  readonly body: Buffer;
};

export type LoadAnswer = { readonly status: number; readonly text: string };

const RETRY_MS = 200;

type Waiting = { readonly resolve: (answer: LoadAnswer) => void; readonly reject: (error: Error) => void };

/** One connection that is kept open: a request at a time. Written byte by byte, since a client of Node takes as much of the machine as what it measures. */
class LoadConnection {
  readonly #socket: net.Socket;
  #read: Buffer = Buffer.alloc(0);
  #waiting: Waiting | null = null;

  constructor({ hostname, port }: URL) {
    this.#socket = net.connect(Number(port), hostname).setNoDelay();
    this.#socket.on('data', (part: Buffer) => this.#take(part));
    this.#socket.on('error', (error) => this.#waiting?.reject(error));
    this.#socket.on('close', () => this.#waiting?.reject(new Error('The connection was closed.')));
  }

  send({ url, key, contentType, encoding, body }: LoadRequest): Promise<LoadAnswer> {
    const { pathname, search, host } = new URL(url);
    const coding = encoding === undefined ? '' : `Content-Encoding: ${encoding}\r\n`;
    this.#socket.write(
      `POST ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\nContent-Type: ${contentType}\r\n${coding}Content-Length: ${String(body.length)}\r\n\r\n`,
    );
    this.#socket.write(body);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(part: Buffer): void {
    this.#read = this.#read.length === 0 ? part : Buffer.concat([this.#read, part]);
    const end = this.#read.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = this.#read.toString('latin1', 0, end);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? NaN);
    if (Number.isNaN(length)) this.#waiting?.reject(new Error(`An answer without a length: ${head}`));
    if (this.#read.length < end + 4 + length) return;
    const waiting = this.#waiting;
    this.#waiting = null;
    const text = this.#read.toString('utf8', end + 4);
    this.#read = Buffer.alloc(0);
    waiting?.resolve({ status: Number(head.slice(9, 12)), text });
  }
}

/** Sends requests to one host over connections that are kept open, so many at most: a further request waits for a free one. */
export class LoadConnections {
  readonly #most: number;
  readonly #all: LoadConnection[] = [];
  readonly #free: LoadConnection[] = [];
  readonly #turns: ((connection: LoadConnection) => void)[] = [];

  constructor(connections: number) {
    this.#most = connections;
  }

  async send(request: LoadRequest): Promise<LoadAnswer> {
    const connection = this.#free.pop() ?? (await this.#more(request.url));
    const answer = await connection.send(request);
    const next = this.#turns.shift();
    if (next === undefined) this.#free.push(connection);
    else next(connection);
    return answer;
  }

  close(): void {
    for (const connection of this.#all) connection.close();
  }

  #more(url: string): LoadConnection | Promise<LoadConnection> {
    if (this.#all.length >= this.#most) return new Promise((resolve) => this.#turns.push(resolve));
    const made = new LoadConnection(new URL(url));
    this.#all.push(made);
    return made;
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

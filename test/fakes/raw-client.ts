import { connect, type Socket } from 'node:net';

export type RawAnswer = { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string };

/** A client that sends the very bytes it is told to, on one connection, and reads answers one by one. */
export class RawClient {
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  #wake: () => void = () => undefined;
  closed = false;
  error: Error | null = null;

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    this.#socket.on('error', (error) => {
      this.error = error;
    });
    this.#socket.on('close', () => {
      this.closed = true;
      this.#wake();
    });
  }

  send(bytes: string | Buffer): this {
    this.#socket.write(bytes);
    return this;
  }

  end(): void {
    this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Destroys it with a TCP reset, which the server sees as an error. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  /** The next answer, which must have a Content-Length (or be a 1xx or 204). */
  async answer(): Promise<RawAnswer> {
    const head = await this.#until(() => this.#received.indexOf('\r\n\r\n') + 1);
    const [first = '', ...lines] = this.#received.toString('latin1', 0, head - 1).split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    const status = Number(first.split(' ')[1]);
    const length = status < 200 || status === 204 ? 0 : Number(headers['content-length']);
    await this.#until(() => this.#received.length >= head + 3 + length);
    const body = this.#received.toString('utf8', head + 3, head + 3 + length);
    this.#received = this.#received.subarray(head + 3 + length);
    return { status, headers, body };
  }

  /** Resolves when the server has closed the connection. */
  async gone(): Promise<void> {
    while (!this.closed)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }

  async #until<T>(found: () => T): Promise<T> {
    for (;;) {
      const value = found();
      if (value) return value;
      if (this.closed) throw new Error(`The connection was closed; received: ${this.#received.toString('latin1')}`, { cause: this.error });
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

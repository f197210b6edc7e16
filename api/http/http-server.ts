import { createServer, STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { Server as NetServer, type AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Service } from '../../pipeline/core/service.ts';
import { refuseBody } from './body.ts';
import type { ListenerTls } from './listener-tls.ts';
import { MAX_DRAIN_BYTES } from './drain.ts';
import { requestIdOf } from './request-id.ts';
import { UnsentAnswers, type UnsentOptions } from './unsent-answers.ts';
import { requestsWebSocket } from './upgrade.ts';

export type HttpServerOptions = {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** Absent: it speaks plain HTTP. */
  readonly tls?: ListenerTls;
  readonly listener: (request: IncomingMessage, response: ServerResponse) => void;
  /** Accepts a request for a WebSocket by giving what takes the connection over. Any other is answered as any request. */
  readonly onUpgrade?: (request: IncomingMessage) => TakeOver | null;
  /** Is given the status of a request that the parser refused. */
  readonly onRefused?: (status: number) => void;
  /** Is given an answer whose client has closed the connection before all of it was sent. */
  readonly onLeft?: (response: ServerResponse) => void;
  readonly limits?: Partial<HttpLimits>;
  /** Bounds of what waits to be sent to clients that do not read. */
  readonly unsent?: UnsentOptions;
};

/** Speaks another protocol from now on; `head` is what came of it already. */
export type TakeOver = (socket: Duplex, head: Buffer) => void;

/** Bounds of time (milliseconds) and size of a request; the names are Node's. */
export type HttpLimits = Readonly<
  Record<'headersTimeout' | 'requestTimeout' | 'keepAliveTimeout' | 'connectionsCheckingInterval' | 'maxHeaderSize', number>
>;

const LIMITS: HttpLimits = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5000,
  maxHeaderSize: 65_536,
};
/** A handshake of TLS, milliseconds. */
const HANDSHAKE_MS = 10_000;
const MAX_CONNECTIONS = 20_000;
/** Requests of one connection that wait for their answers; a connection with more is closed. */
const MAX_PIPELINED = 64;
const STOP_MS = 10_000;
const SWEEP_MS = 50;
/** How often it is looked whether clients take their answers. Milliseconds. */
const LOOK_MS = 1000;
/** A turn of the event loop that is shorter had next to nothing to do, milliseconds; and how many are waited for. */
const QUIET_MS = 1;
const MAX_TURNS = 1000;

/** A listener with limits on time and size, answers for what the parser refuses, and a stop that lets requests finish. */
export class HttpServer implements Service {
  readonly name: string;
  /** True once `drain()` or `stop()` was called: answers then close their connection. */
  stopping = false;
  readonly #options: HttpServerOptions;
  readonly #server: Server;
  /** The answer that is being made on a connection. */
  readonly #answers = new WeakMap<Duplex, ServerResponse>();
  /** Connections whose end has begun with an error: a request that still comes on one has been refused already. */
  readonly #ended = new WeakSet<Duplex>();
  /** What takes over the connection of an accepted request. */
  readonly #takeOvers = new WeakMap<IncomingMessage, TakeOver>();
  /** How many requests of a connection are not answered. */
  readonly #pipelined = new WeakMap<Duplex, number>();
  /** Answers that are not over. */
  readonly #open = new Set<ServerResponse>();
  /** Connections and requests that have come. */
  #arrivals = 0;
  #stopped: Promise<void> | null = null;
  /** True once connections are closed on requests that have not ended. */
  #isEnding = false;
  readonly #looks: NodeJS.Timeout;

  constructor(options: HttpServerOptions) {
    this.name = options.name;
    this.#options = options;
    // a missing Host is refused by our own middleware, so that this answer too has a request id
    const { tls } = options;
    const made = { ...LIMITS, ...options.limits, requireHostHeader: false, shouldUpgradeCallback: this.#acceptsUpgrade };
    if (tls === undefined) this.#server = createServer(made, this.#onRequest);
    else {
      const server = createTlsServer({ ...made, ...tls.serverOptions, handshakeTimeout: HANDSHAKE_MS }, this.#onRequest);
      tls.serve(server);
      this.#server = server;
    }
    this.#server.maxConnections = MAX_CONNECTIONS;
    const unsent = new UnsentAnswers(options.unsent);
    this.#looks = setInterval(() => {
      unsent.look(this.#open);
    }, LOOK_MS).unref();
    this.#server.on('connection', (socket) => {
      this.#arrivals += 1;
      // Node removes its listener with an upgrade, and an unhandled error would end the process; the socket is destroyed by then
      if (!socket.listeners('error').includes(ignore)) socket.on('error', ignore);
    });
    // the body reader sends "100 Continue" once it wants the body
    this.#server.on('checkContinue', this.#onRequest);
    this.#server.on('checkExpectation', this.#onRequest);
    this.#server.on('clientError', this.#onClientError);
    // Node resets a connection whose CONNECT has no listener
    this.#server.on('connect', this.#onConnect);
    this.#server.on('upgrade', this.#onUpgrade);
  }

  /** The port it listens on; 0 before it was started. */
  get port(): number {
    return (this.#server.address() as AddressInfo | null)?.port ?? 0;
  }

  async start(): Promise<void> {
    const { host, port, tls } = this.#options;
    await tls?.start();
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
  }

  /** From now on each answer closes its connection, so that its client reconnects, perhaps elsewhere. No one is refused yet. */
  drain(): void {
    this.stopping = true;
  }

  /** Takes no new connections; requests that have begun get 10 s. */
  stop(): Promise<void> {
    this.#stopped ??= this.#close();
    return this.#stopped;
  }

  async #close(): Promise<void> {
    this.stopping = true;
    if (!this.#server.listening) return;
    await this.#quietTurn();
    let isClosed = false;
    const closed = new Promise<void>((resolve) => {
      // http's own close() would destroy connections whose last answer is still on its way
      NetServer.prototype.close.call(this.#server, () => {
        isClosed = true;
        resolve();
      });
    });
    this.#closeIdle();
    const sweep = setInterval(() => {
      void this.#quietTurn().then(() => {
        if (!isClosed) this.#closeIdle();
      });
    }, SWEEP_MS);
    const end = setTimeout(() => {
      this.#isEnding = true;
      this.#server.closeAllConnections();
    }, STOP_MS);
    await closed;
    await this.#options.tls?.stop();
    clearInterval(this.#looks);
    clearInterval(sweep);
    clearTimeout(end);
  }

  /**
   * Resolves right after a turn of the event loop in which nothing came and next to nothing was to be done: what has arrived by then has
   * been read. A connection that is closed then, or one that waits to be taken, has no request in it, whose client could not know what
   * became of it.
   */
  async #quietTurn(): Promise<void> {
    // what is left of this turn may not look at sockets any more
    await new Promise((resolve) => setImmediate(resolve));
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      const [began, arrivals] = [performance.now(), this.#arrivals];
      await new Promise((resolve) => setImmediate(resolve));
      if (arrivals === this.#arrivals && performance.now() - began < QUIET_MS) return;
    }
  }

  /** Closes connections on which nothing is under way. Node takes for idle also one whose answer has ended and is not sent yet. */
  #closeIdle(): void {
    if ([...this.#open].every((answer) => !answer.writableEnded)) this.#server.closeIdleConnections();
  }

  readonly #onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    if (this.#ended.has(socket)) return;
    const pipelined = (this.#pipelined.get(socket) ?? 0) + 1;
    if (pipelined > MAX_PIPELINED) {
      this.#ended.add(socket);
      socket.destroy();
      return;
    }
    this.#pipelined.set(socket, pipelined);
    this.#answers.set(request.socket, response);
    this.#open.add(response);
    this.#arrivals += 1;
    response.once('close', () => {
      this.#open.delete(response);
      this.#pipelined.set(socket, (this.#pipelined.get(socket) ?? 1) - 1);
      if (!response.writableFinished && !this.#isEnding && !this.#ended.has(request.socket)) this.#options.onLeft?.(response);
    });
    this.#options.listener(request, response);
  };

  readonly #onClientError = (error: NodeJS.ErrnoException, socket: Duplex): void => {
    const answer = this.#answers.get(socket);
    const unfinished = answer !== undefined && !answer.writableEnded;
    if (error.code === 'ECONNRESET' || !socket.writable || (unfinished && answer.headersSent)) {
      socket.destroy();
      return;
    }
    // what follows an earlier, whole request is refused only after that one was answered
    if (unfinished && answer.req.complete)
      answer.once('close', () => {
        this.#refuse(error, socket, undefined);
      });
    else this.#refuse(error, socket, unfinished ? answer.req : undefined);
  };

  #refuse(error: NodeJS.ErrnoException, socket: Duplex, request: IncomingMessage | undefined): void {
    this.#end(socket, PARSER_ERRORS[error.code ?? ''] ?? MALFORMED, request);
  }

  /** A WebSocket that is not accepted, and another protocol, such as h2c, are answered in HTTP/1.1. */
  readonly #acceptsUpgrade = (request: IncomingMessage): boolean => {
    if (this.#ended.has(request.socket) || !requestsWebSocket(request)) return false;
    const takeOver = this.#options.onUpgrade?.(request) ?? null;
    if (takeOver !== null) this.#takeOvers.set(request, takeOver);
    return takeOver !== null;
  };

  /** What came before on the connection is answered first. */
  readonly #onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const go = (): void => {
      if (!socket.destroyed) this.#takeOvers.get(request)?.(socket, head);
    };
    const earlier = this.#answers.get(socket);
    if (earlier === undefined || earlier.destroyed) go();
    else earlier.once('close', go);
  };

  readonly #onConnect = (request: IncomingMessage, stream: Duplex): void => {
    // where the request has a body, the stream is one of its own, and reports the errors of the socket once more
    if (stream !== request.socket) stream.on('error', ignore);
    this.#end(request.socket, CONNECT, request, `Allow: ${METHODS}\r\n`);
  };

  /** Writes an error where no request handler can, and ends the connection. `headers`: further lines, each with its end. */
  #end(socket: Duplex, [status, detail]: readonly [number, string], request: IncomingMessage | undefined, headers = ''): void {
    if (!socket.writable) return;
    this.#ended.add(socket);
    if (request !== undefined) refuseBody(request);
    this.#options.onRefused?.(status);
    const requestId = requestIdOf(request?.headers['x-request-id']);
    const body = JSON.stringify({ detail, request_id: requestId });
    socket.end(
      `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}\r\nConnection: close\r\nX-Request-Id: ${requestId}\r\n${headers}` +
        'X-Content-Type-Options: nosniff\r\n' +
        `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${String(Buffer.byteLength(body))}\r\n\r\n${body}`,
    );
    destroySoon(socket);
  }
}

const ignore = (): void => undefined;

const METHODS = 'GET, HEAD, POST, PUT, DELETE, OPTIONS';
const CONNECT = [405, 'The method CONNECT is not allowed: Logweir is not a proxy.'] as const;
const MALFORMED = [400, 'The request is not valid HTTP.'] as const;
const PARSER_ERRORS: Readonly<Record<string, readonly [number, string]>> = {
  HPE_HEADER_OVERFLOW: [431, `The headers have more than ${String(LIMITS.maxHeaderSize)} bytes.`],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions are too long.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time.'],
};

/** Lets the answer reach a sender that still sends: reads on for at most a second and 1 MiB. */
function destroySoon(socket: Duplex): void {
  let left = MAX_DRAIN_BYTES;
  const timer = setTimeout(() => socket.destroy(), 1000);
  socket.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) socket.destroy();
  });
  socket.once('close', () => {
    clearTimeout(timer);
  });
  socket.resume();
}

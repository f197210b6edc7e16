import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { forbidden, HttpError, storeUnavailable } from '../../../pipeline/core/errors.ts';
import type { Service } from '../../../pipeline/core/service.ts';
import { authorize, refuseProject } from '../../auth/authenticate.ts';
import { identify, type Identifier } from '../../auth/identify.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { headerOf, targetOf } from '../../http/exchange.ts';
import type { TakeOver } from '../../http/http-server.ts';
import type { Operation } from '../../http/operation.ts';
import { requestIdOf } from '../../http/request-id.ts';
import type { Principal } from '../../tenants/principal.ts';
import { RouteTable } from '../../http/route-table.ts';
import type { LiveTails } from '../../limits/live-tails.ts';
import { GOING_AWAY, POLICY, type TailEnd } from '../outlet.ts';
import { BodiesInFlight } from '../../http/bodies-in-flight.ts';
import { checkHandshake, selectProtocol } from './handshake.ts';
import { meterReceived, PARTS } from './receive-meter.ts';

/** A WebSocket that was accepted. */
export type OpenSocket = {
  readonly socket: WebSocket;
  /** What it is carried by. */
  readonly connection: Duplex;
  readonly principal: Principal;
  readonly query: URLSearchParams;
  readonly requestId: string;
  /** Aborted when it has closed. */
  readonly signal: AbortSignal;
  /** Closes it with a code and a reason. */
  readonly close: (end: TailEnd) => void;
};

/** A path at which WebSockets are accepted. */
export type SocketEndpoint = {
  /** With parameters as `{name}`. */
  readonly path: string;
  /** Counts the socket for its tenant and key. */
  readonly tails: LiveTails;
  /** It gives a key of a project that project alone. */
  readonly isNarrowed?: true;
  readonly operation?: Operation;
  /** Called once for each. Where a parameter is wrong it throws HttpError: that is the answer, and nothing was opened. */
  readonly check?: (query: URLSearchParams) => void;
  open(socket: OpenSocket): void;
};

/** A message of a client is no larger. Bytes. */
const MAX_PAYLOAD = 128 * 1024;
/** Most bytes of messages that are not whole, of all clients; a tenant may hold a quarter. */
const MAX_HELD = 32 * 1024 * 1024;
/** How often a client must show that it is there, and its key is looked at again. Milliseconds. */
const PING_MS = 20_000;
const KEY_MS = 500;
/** How long a client may take to confirm a close. Milliseconds. */
const CLOSE_MS = 2000;
/** The longest reason of a close, in bytes (RFC 6455, 5.5). */
const MAX_REASON = 120;

type Open = OpenSocket & { isAlive: boolean; readonly check: () => void };

/** The endpoint of a path of WebSockets for requests that open none: it reports why. */
export const refusing = ({ path, tails, check, isNarrowed, operation }: SocketEndpoint, isStopping: () => boolean): Endpoint => ({
  ...(isNarrowed === undefined ? {} : { isNarrowed }),
  methods: ['GET'],
  path,
  errors: 'query',
  access: { plane: 'websocket', scope: 'read' },
  ...(operation === undefined ? {} : { operation }),
  handle: ({ request, principal, query }) => {
    const refuse = (): never => {
      if (isStopping()) throw storeUnavailable();
      checkHandshake(request);
      check?.(query);
      tails.enter(principal)();
      throw new HttpError(426, 'upgrade_required', 'This path speaks WebSocket only.');
    };
    return Promise.resolve().then(refuse);
  },
});

/** The WebSockets of a process: accepted with the credentials and bounds of requests, watched while open, closed with the process. */
export class LiveSockets implements Service {
  readonly name = 'websockets';
  readonly #identifier: Identifier;
  readonly #table = new RouteTable<SocketEndpoint>();
  readonly #endpoints: readonly SocketEndpoint[];
  readonly #open = new Set<Open>();
  #isStopping = false;
  readonly #timers: readonly NodeJS.Timeout[];
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: MAX_PAYLOAD,
    perMessageDeflate: false,
    ...PARTS,
    handleProtocols: selectProtocol,
  });

  readonly #held: BodiesInFlight;

  /** `maxHeld`: most bytes of messages of clients that are not whole, of all together. */
  constructor(identifier: Identifier, endpoints: readonly SocketEndpoint[], maxHeld = MAX_HELD) {
    this.#identifier = identifier;
    this.#held = new BodiesInFlight({ maxBytes: maxHeld, what: 'unfinished messages' });
    this.#endpoints = endpoints;
    for (const endpoint of endpoints) this.#table.add(['GET'], endpoint.path, endpoint);
    this.#server.on('headers', (headers, request) => headers.push(`X-Request-Id: ${requestIdOf(request.headers['x-request-id'])}`));
    this.#timers = [setInterval(this.#ping, PING_MS).unref(), setInterval(this.#checkKeys, KEY_MS).unref()];
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  /** Closes all with 1001; resolves when they are closed, after CLOSE_MS at the latest. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const timer of this.#timers) clearInterval(timer);
    const all = [...this.#open];
    await Promise.all(
      all.map(
        (open) =>
          new Promise<void>((resolve) => {
            open.socket.once('close', () => resolve());
            open.close({ code: GOING_AWAY, reason: 'The service is stopping; connect again.' });
          }),
      ),
    );
  }

  /** How many are open. */
  get size(): number {
    return this.#open.size;
  }

  /** The endpoints that answer with an error where a WebSocket is refused, or was not requested. */
  get endpoints(): readonly Endpoint[] {
    return this.#endpoints.map((endpoint) => refusing(endpoint, () => this.#isStopping));
  }

  /** Accepts a request by giving what takes its connection over; null where an endpoint is to answer it, with the reason. */
  readonly onUpgrade = (request: IncomingMessage): TakeOver | null => {
    const { path, search } = targetOf(request);
    const found = this.#table.find(path);
    const endpoint = found?.members.get('GET');
    if (found === null || endpoint === undefined || this.#isStopping) return null;
    const query = new URLSearchParams(search);
    let opened: Principal | null = null;
    const check = (): Principal => {
      const sent = { path, query, method: 'GET', header: (name: string) => headerOf(request, name) };
      const { principal } = identify(sent, this.#identifier, { plane: 'websocket', scope: 'read' });
      authorize(principal, 'read', found.params['tenant_id']);
      if (endpoint.isNarrowed !== true) refuseProject(principal);
      if (opened !== null && opened.project?.filter !== principal.project?.filter)
        throw forbidden('The project of this API key was changed; connect again.');
      return principal;
    };
    let principal: Principal;
    try {
      principal = opened = check();
      checkHandshake(request);
      endpoint.check?.(query);
      // one whose handshake cannot be ended leaves too
      request.socket.once('close', endpoint.tails.enter(principal));
    } catch {
      return null;
    }
    return (socket, head) => {
      if (this.#isStopping) socket.destroy();
      else
        this.#server.handleUpgrade(request, socket, head, (own) => {
          this.#take(
            own,
            { connection: socket, principal, query, requestId: requestIdOf(request.headers['x-request-id']) },
            check,
            endpoint,
          );
        });
    };
  };

  #take(
    socket: WebSocket,
    of: Pick<Open, 'connection' | 'principal' | 'query' | 'requestId'>,
    check: () => void,
    endpoint: SocketEndpoint,
  ): void {
    const closed = new AbortController();
    const close = ({ code, reason }: TailEnd): void => {
      if (closed.signal.aborted) return;
      socket.close(code, cut(reason));
      setTimeout(() => {
        socket.terminate();
      }, CLOSE_MS).unref();
    };
    const open: Open = { ...of, socket, check, close, signal: closed.signal, isAlive: true };
    this.#open.add(open);
    socket.on('pong', () => (open.isAlive = true));
    // where a client sends an invalid or too large frame, ws closes with the code for that
    socket.on('error', () => undefined);
    socket.once('close', () => {
      this.#open.delete(open);
      closed.abort(new Error('The client closed the connection.'));
    });
    meterReceived({ socket, connection: of.connection, tenantId: of.principal.tenantId, close }, this.#held);
    endpoint.open(open);
  }

  readonly #ping = (): void => {
    for (const open of this.#open) {
      if (!open.isAlive) open.socket.terminate();
      else {
        open.isAlive = false;
        open.socket.ping();
      }
    }
  };

  /** Closes sockets whose key is no longer accepted. */
  readonly #checkKeys = (): void => {
    for (const { check, close } of this.#open)
      try {
        check();
      } catch (error) {
        if (error instanceof HttpError && error.status < 500) close({ code: POLICY, reason: error.message });
      }
  };
}

function cut(reason: string): string {
  const bytes = Buffer.from(reason);
  return bytes.length <= MAX_REASON
    ? reason
    : `${bytes
        .subarray(0, MAX_REASON)
        .toString('utf8')
        .replace(/\uFFFD$/, '')}…`;
}

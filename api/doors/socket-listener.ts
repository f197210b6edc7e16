import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type Server as TlsServer, type TLSSocket } from 'node:tls';
import type { Service } from '../../pipeline/core/service.ts';
import type { ListenerTls } from '../http/listener-tls.ts';
import { addressOf } from './address.ts';
import type { DoorMetrics } from './door-metrics.ts';
import type { OtlpGrpcDoor, SyslogTcpDoor } from './doors-file.ts';
import { HandshakeBounds } from './handshake-bounds.ts';
import { Seats, type Seat } from './seats.ts';

export type SocketListenerOptions = {
  readonly door: Pick<
    SyslogTcpDoor | OtlpGrpcDoor,
    'name' | 'host' | 'port' | 'maxConnections' | 'maxConnectionsOfAddress' | 'maxConnectionsOfTenant' | 'clients'
  >;
  readonly tls: ListenerTls | null;
  readonly protocols?: readonly string[];
  readonly metrics: DoorMetrics;
  /** Is given each connection that is open, of TLS after its handshake, with its place, which is to be claimed for its tenant. */
  readonly onConnection: (socket: Socket | TLSSocket, seat: Seat) => void;
};

/** A handshake of TLS may take so long, and connections may end by themselves at a stop. Milliseconds. */
const HANDSHAKE_MS = 10_000;
const STOP_MS = 10_000;
const KEEP_ALIVE_MS = 60_000;

/** A connection whose handshake is under way. */
type Shaking = { readonly seat: Seat; readonly address: string };

/** A listener of connections, plain or with TLS, that bounds how many there are, of an address and of a tenant, and how many handshakes. */
export class SocketListener implements Service {
  readonly name: string;
  readonly #options: SocketListenerOptions;
  readonly #seats: Seats;
  readonly #handshakes = new HandshakeBounds();
  readonly #server: Server;
  readonly #tls: TlsServer | null;
  readonly #open = new Set<Socket>();
  /** By address and port. */
  readonly #shaking = new Map<string, Shaking>();
  #emptied: (() => void) | null = null;

  constructor(options: SocketListenerOptions) {
    const { door, tls } = options;
    this.#options = options;
    this.name = `door ${door.name}`;
    this.#seats = new Seats({
      ...{ maxConnections: door.maxConnections, maxOfAddress: door.maxConnectionsOfAddress, maxOfTenant: door.maxConnectionsOfTenant },
    });
    this.#server = createServer({ keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS, noDelay: true }, (socket) => {
      this.#accept(socket);
    });
    this.#tls = tls === null ? null : this.#tlsServer(tls);
  }

  /** The port it listens on; 0 before it was started. */
  get port(): number {
    return (this.#server.address() as AddressInfo | null)?.port ?? 0;
  }

  async start(): Promise<void> {
    const { host, port } = this.#options.door;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
  }

  /** Takes no new connections; those that are open get 10 s. */
  async stop(): Promise<void> {
    if (this.#server.listening) this.#server.close();
    if (this.#open.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        for (const socket of this.#open) socket.destroy();
      }, STOP_MS);
      this.#emptied = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #tlsServer(tls: ListenerTls): TlsServer {
    const { door, protocols } = this.#options;
    const server = createTlsServer({
      ...tls.serverOptions,
      handshakeTimeout: HANDSHAKE_MS,
      requestCert: tls.verifiesClients || door.clients.length > 0,
      // without an authority certificates are known by their fingerprints
      rejectUnauthorized: tls.verifiesClients,
      ...(protocols === undefined ? {} : { ALPNProtocols: [...protocols] }),
    });
    tls.serve(server);
    server.on('secureConnection', (socket) => {
      socket.on('error', ignore);
      const seat = this.#endHandshake(peerOf(socket));
      if (seat === null) socket.destroy();
      else this.#options.onConnection(socket, seat);
    });
    server.on('tlsClientError', (_error, socket) => {
      this.#refuse('tls');
      socket.destroy();
    });
    return server;
  }

  #accept(socket: Socket): void {
    const address = addressOf(socket.remoteAddress);
    socket.on('error', ignore);
    const seat = this.#seats.enter(address, () => {
      this.#refuse('unclaimed');
      socket.destroy();
    });
    if (typeof seat === 'string') {
      this.#refuse(seat);
      socket.destroy();
      return;
    }
    this.#open.add(socket);
    this.#count();
    socket.once('close', () => {
      this.#open.delete(socket);
      seat.leave();
      this.#count();
      if (this.#open.size === 0) this.#emptied?.();
    });
    if (this.#tls === null) this.#options.onConnection(socket, seat);
    else this.#shakeHands(this.#tls, socket, { seat, address });
  }

  #shakeHands(tls: TlsServer, socket: Socket, shaking: Shaking): void {
    if (!this.#handshakes.begin(shaking.address)) {
      this.#refuse('handshakes');
      socket.destroy();
      return;
    }
    const peer = peerOf(socket);
    this.#shaking.set(peer, shaking);
    socket.once('close', () => {
      this.#endHandshake(peer);
    });
    tls.emit('connection', socket);
  }

  /** The place of the connection; null where it is closed already. */
  #endHandshake(peer: string): Seat | null {
    const shaking = this.#shaking.get(peer);
    if (shaking === undefined) return null;
    this.#shaking.delete(peer);
    this.#handshakes.end(shaking.address);
    return shaking.seat;
  }

  #refuse(reason: string): void {
    this.#options.metrics.refused.inc({ door: this.#options.door.name, reason });
  }

  #count(): void {
    this.#options.metrics.connections.set({ door: this.#options.door.name }, this.#seats.taken);
  }
}

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${String(remoteAddress)} ${String(remotePort)}`;

function ignore(): void {
  /* the connection is closed, which is all there is to know */
}

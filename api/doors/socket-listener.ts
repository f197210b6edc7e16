import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type Server as TlsServer, type TLSSocket } from 'node:tls';
import type { Service } from '../../pipeline/core/service.ts';
import type { ListenerTls } from '../http/listener-tls.ts';
import { AddressBounds, addressOf } from './address-bounds.ts';
import type { DoorMetrics } from './door-metrics.ts';
import type { OtlpGrpcDoor, SyslogTcpDoor } from './doors-file.ts';

export type SocketListenerOptions = {
  readonly door: Pick<SyslogTcpDoor | OtlpGrpcDoor, 'name' | 'host' | 'port' | 'maxConnections' | 'maxConnectionsOfAddress' | 'clients'>;
  readonly tls: ListenerTls | null;
  readonly protocols?: readonly string[];
  readonly metrics: DoorMetrics;
  /** Is given each connection that is open, of TLS after its handshake. */
  readonly onConnection: (socket: Socket | TLSSocket) => void;
};

/** A handshake of TLS may take so long, and connections may end by themselves at a stop. Milliseconds. */
const HANDSHAKE_MS = 10_000;
const STOP_MS = 10_000;
const KEEP_ALIVE_MS = 60_000;

/** A listener of connections, plain or with TLS, that bounds how many an address may have, and how many handshakes there are. */
export class SocketListener implements Service {
  readonly name: string;
  readonly #options: SocketListenerOptions;
  readonly #bounds: AddressBounds;
  readonly #server: Server;
  readonly #tls: TlsServer | null;
  readonly #open = new Set<Socket>();
  /** Whose handshakes are under way, by address and port. */
  readonly #shaking = new Set<string>();
  #emptied: (() => void) | null = null;

  constructor(options: SocketListenerOptions) {
    const { door, tls } = options;
    this.#options = options;
    this.name = `door ${door.name}`;
    this.#bounds = new AddressBounds({ maxConnections: door.maxConnections, maxOfAddress: door.maxConnectionsOfAddress });
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
      this.#endHandshake(peerOf(socket));
      socket.on('error', ignore);
      this.#options.onConnection(socket);
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
    const fault = this.#bounds.enter(address);
    if (fault !== null) {
      this.#refuse(fault);
      socket.destroy();
      return;
    }
    this.#open.add(socket);
    this.#count();
    socket.once('close', () => {
      this.#open.delete(socket);
      this.#bounds.leave(address);
      this.#count();
      if (this.#open.size === 0) this.#emptied?.();
    });
    if (this.#tls === null) this.#options.onConnection(socket);
    else this.#shakeHands(this.#tls, socket, address);
  }

  #shakeHands(tls: TlsServer, socket: Socket, address: string): void {
    if (!this.#bounds.beginHandshake(address)) {
      this.#refuse('handshakes');
      socket.destroy();
      return;
    }
    const peer = peerOf(socket);
    this.#shaking.add(peer);
    socket.once('close', () => {
      this.#endHandshake(peer);
    });
    tls.emit('connection', socket);
  }

  #endHandshake(peer: string): void {
    if (this.#shaking.delete(peer)) this.#bounds.endHandshake();
  }

  #refuse(reason: string): void {
    this.#options.metrics.refused.inc({ door: this.#options.door.name, reason });
  }

  #count(): void {
    this.#options.metrics.connections.set({ door: this.#options.door.name }, this.#bounds.connections);
  }
}

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${String(remoteAddress)} ${String(remotePort)}`;

function ignore(): void {
  /* the connection is closed, which is all there is to know */
}

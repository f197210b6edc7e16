import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Service } from '../../pipeline/core/service.ts';
import type { ListenerTls } from '../http/listener-tls.ts';
import { ClientKeys } from './door-keys.ts';
import type { SyslogTcpDoor } from './doors-file.ts';
import { SocketListener } from './socket-listener.ts';
import { SyslogConnection } from './syslog-connection.ts';
import { SyslogIntake, type SyslogIntakeOptions } from './syslog-intake.ts';

export type SyslogTcpDoorOptions = SyslogIntakeOptions & {
  readonly door: SyslogTcpDoor;
  readonly tls: ListenerTls | null;
  /** How long a frame may take to come whole; milliseconds. */
  readonly frameMs?: number;
};

/** Syslog over TCP (RFC 6587) and TLS (RFC 5425). */
export class SyslogTcpListener implements Service {
  readonly name: string;
  readonly #options: SyslogTcpDoorOptions;
  readonly #listener: SocketListener;
  readonly #intake: SyslogIntake;
  readonly #clients: ClientKeys;
  readonly #connections = new Set<SyslogConnection>();

  constructor(options: SyslogTcpDoorOptions) {
    const { door, tls, metrics } = options;
    this.#options = options;
    this.name = `door ${door.name}`;
    this.#intake = new SyslogIntake(options);
    this.#clients = new ClientKeys(door.clients);
    this.#listener = new SocketListener({ door, tls, metrics, onConnection: (socket) => this.#onConnection(socket) });
  }

  get port(): number {
    return this.#listener.port;
  }

  start(): Promise<void> {
    return this.#listener.start();
  }

  /** Takes what has come whole; of a tenant that is refused for a while, what waits is lost and counted. */
  async stop(): Promise<void> {
    const stopped = this.#listener.stop();
    this.#intake.stop();
    await Promise.all([...this.#connections].map((connection) => connection.close()));
    await stopped;
  }

  #onConnection(socket: Socket): void {
    const { door, metrics, frameMs } = this.#options;
    const key = (socket instanceof TLSSocket ? this.#clients.of(socket) : null) ?? door.key;
    if (key === null && !door.hasKeyInData) {
      metrics.refused.inc({ door: door.name, reason: 'key' });
      socket.destroy();
      return;
    }
    const connection = new SyslogConnection(socket, {
      ...{ intake: this.#intake, key },
      onClosed: (reason) => metrics.refused.inc({ door: door.name, reason }),
      ...(frameMs === undefined ? {} : { frameMs }),
    });
    this.#connections.add(connection);
    socket.once('close', () => this.#connections.delete(connection));
  }
}

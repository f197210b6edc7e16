import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Service } from '../../pipeline/core/service.ts';
import type { ListenerTls } from '../http/listener-tls.ts';
import type { LoopTurns } from '../http/loop-turns.ts';
import { addressOf } from './address.ts';
import { ClientKeys } from './door-keys.ts';
import type { SyslogTcpDoor } from './doors-file.ts';
import type { FrameBudget } from './frame-budget.ts';
import type { Seat } from './seats.ts';
import { SocketListener } from './socket-listener.ts';
import { SyslogConnection, TOO_MANY } from './syslog-connection.ts';
import { SyslogIntake, type SyslogIntakeOptions } from './syslog-intake.ts';

export type SyslogTcpDoorOptions = SyslogIntakeOptions & {
  readonly door: SyslogTcpDoor;
  readonly tls: ListenerTls | null;
  /** Of all doors of the process. */
  readonly frames: FrameBudget;
  readonly turns: LoopTurns<string>;
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
    this.#listener = new SocketListener({ door, tls, metrics, onConnection: (socket, seat) => this.#onConnection(socket, seat) });
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

  #onConnection(socket: Socket, seat: Seat): void {
    const { door, frames, turns, frameMs } = this.#options;
    const certified = socket instanceof TLSSocket ? this.#clients.of(socket) : null;
    const key = certified ?? door.key;
    // of frames with keys it is known when the first one has come
    const known = certified ?? (door.hasKeyInData ? null : door.key);
    const tenantId = this.#intake.tenantOf(known);
    const fault = key === null && !door.hasKeyInData ? 'key' : tenantId !== null && !seat.claim(tenantId) ? 'tenant' : null;
    if (fault !== null) {
      if (fault === 'tenant') this.#intake.note(known, TOO_MANY, { client: addressOf(socket.remoteAddress) });
      this.#refuse(fault);
      socket.destroy();
      return;
    }
    const connection = new SyslogConnection(socket, {
      ...{ intake: this.#intake, key, seat, turns, budget: frames },
      onClosed: (reason) => this.#refuse(reason),
      ...(frameMs === undefined ? {} : { frameMs }),
    });
    this.#connections.add(connection);
    socket.once('close', () => this.#connections.delete(connection));
  }

  #refuse(reason: string): void {
    const { door, metrics } = this.#options;
    metrics.refused.inc({ door: door.name, reason });
  }
}

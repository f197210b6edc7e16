import type { Socket } from 'node:net';

/** Where an attack goes, and as whom. */
export type Target = {
  readonly app: string;
  readonly ingest: string;
  readonly syslog: string;
  readonly otlp: string;
  readonly key: string;
  readonly tenantId: number;
  /** How many small entries the tenant has (`seed.ts`). */
  readonly entries: number;
};

/** The hosts, and the doors of syslog over TCP and of OTLP over gRPC. */
export type Host = 'app' | 'ingest' | 'syslog' | 'otlp';

export type AttackRequest = {
  readonly host: Host;
  readonly path: string;
  /** Default: POST with a body, else GET. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
};

/** What an attack on bare sockets gets. Its sockets are counted, and destroyed when it is over. */
export interface Arena {
  readonly target: Target;
  /** A connection whose answers are counted by status, unless it reads nothing; it is left after `lifeMs`. `from`: its own address. */
  connect(host: Host, options?: { readonly reads?: boolean; readonly lifeMs?: number; readonly from?: string }): Socket;
  /** Calls back after so many milliseconds again and again, until the attack is over. */
  every(ms: number, work: () => void): void;
}

type Named = { readonly name: string; readonly kind: 'query' | 'ingest' };

/** Requests, so many at once, one after the other; `round` counts them. */
export type RequestAttack = Named & {
  readonly atOnce: number;
  request(target: Target, round: number): AttackRequest;
};

/** Bytes on bare sockets. */
export type SocketAttack = Named & { open(arena: Arena): void };

export type Attack = RequestAttack | SocketAttack;

/** Ranges of time with the attacker's entries of a kind (`seed.ts`). */
export const SMALL = { start: '-1h', end: 'now' };
export const LARGE = { start: '-5h', end: '-3h' };
export const PARTS = { start: '-7h', end: '-5h' };
export const WIDE = { start: '-9h', end: '-7h' };

import net from 'node:net';
import { joinSockets } from './proxy-connection.ts';
import type { Fault, FaultKind, Held, Rules } from './proxy-faults.ts';
import type { Shape } from './proxy-line.ts';
import type { Match, Protocol, ProxyCounts, Way } from './proxy-rules.ts';

export type ProxyOptions = {
  readonly target: { readonly host: string; readonly port: number };
  readonly protocol: Protocol;
  /** In [0, 1), for the jitter. */
  readonly random?: () => number;
  /** Where to listen; without them any free port of 127.0.0.1. */
  readonly host?: string;
  readonly port?: number;
};

/** A request that has left its sender and not reached its target. */
export type HeldRequest = Pick<Held, 'head' | 'isAbandoned' | 'cut'> & {
  /** Brings it to the target, on a connection of its own; true once that has answered 200. Its sender is told nothing. HTTP only. */
  deliver(): Promise<boolean>;
};

/** A TCP proxy that does to a link what networks do. Verbs last until they are taken back; `next` ones happen once. */
export type Proxy = {
  readonly port: number;
  readonly counts: Readonly<ProxyCounts>;
  /** Connections that are open now. */
  readonly open: number;
  /** Ends all connections at once, whatever is under way. */
  cut(): void;
  /** New connections are refused; those that are open stay. */
  refuse(on: boolean): Promise<void>;
  /** Slows both directions down; what is left out is not done, so `{}` is the line as it was. */
  shape(shape: { readonly delayMs?: number; readonly jitterMs?: number; readonly bytesPerSecond?: number }): void;
  /**
   * Swallows all bytes both ways, or one way, and every end, while connections stay. When it is over, connections that lost something are
   * cut, or stay dead for ever, as they do where nobody on the way knows them any more.
   */
  blackHole(on: boolean, leave?: 'cut' | 'dead', way?: Way): void;
  /** Holds all bytes both ways; they arrive when it is over, late, even if their sender has given up: as a network does that comes back. */
  hold(on: boolean): void;
  /**
   * Forwards the next request that matches, awaits its answer, and cuts the connection instead of delivering it (of HTTP: an answer with
   * status 200; others are delivered, and the next one is waited for). Resolves when it has happened, false where `signal` came first.
   */
  dropNextResponse(match: Match, signal?: AbortSignal): Promise<boolean>;
  /** Forwards so many bytes of the body (Kafka: of the frame) of the next request that matches and has more, then cuts the connection. */
  truncateNextRequest(bytes: number, match: Match, signal?: AbortSignal): Promise<boolean>;
  /** Reads the next request that matches whole and does not forward it; null where `signal` came first. */
  holdNextRequest(match: Match, signal?: AbortSignal): Promise<HeldRequest | null>;
  close(): Promise<void>;
};

/** Kafka's requests that append records (to one topic), and that commit offsets. */
export const isProduce: Match = ({ apiKey }) => apiKey === 0;
export const isProduceTo =
  (topic: string): Match =>
  ({ apiKey, head }) =>
    apiKey === 0 && head.includes(topic);
export const isOffsetCommit: Match = ({ apiKey }) => apiKey === 8;

/** ClickHouse's requests that store rows: the client puts the statement into the URL and the rows into the body. */
export const isInsert: Match = ({ head }) => /^POST \S*[?&]query=INSERT/i.test(head);
/** … and only those into one table. */
export const isInsertInto =
  (table: string): Match =>
  ({ head }) =>
    new RegExp(`^POST \\S*[?&]query=INSERT(?:\\+|%20)INTO(?:\\+|%20)${table}(?:\\+|%20)`, 'i').test(head);

const PLAIN: Shape = { delayMs: 0, jitterMs: 0, bytesPerSecond: 0, isHeld: false };

/** Starts a proxy. Its target need not be there yet; while it is not, connections are ended as soon as they come. */
export async function startProxy(options: ProxyOptions): Promise<Proxy> {
  const { target, protocol, random = Math.random } = options;
  const counts: ProxyCounts = { connections: 0, cut: 0, droppedResponses: 0, truncatedRequests: 0, bytes: 0, swallowedBytes: 0 };
  const rules: Rules = { shape: PLAIN, blackHole: null, faults: [], protocol, counts, random };
  const connections = new Set<ReturnType<typeof joinSockets>>();

  const onConnection = (client: net.Socket): void => {
    counts.connections += 1;
    const connection = joinSockets(client, net.connect({ ...target, noDelay: true, allowHalfOpen: true }), rules, () =>
      connections.delete(connection),
    );
    connections.add(connection);
  };
  const host = options.host ?? '127.0.0.1';
  let server = await listen(host, options.port ?? 0, onConnection);
  const { port } = server.address() as net.AddressInfo;
  const close = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()));

  return {
    port,
    counts,
    get open() {
      return connections.size;
    },
    cut: () => {
      for (const connection of [...connections]) connection.cut();
    },
    refuse: async (on) => {
      if (on) void close();
      else if (!server.listening) server = await listen(host, port, onConnection);
    },
    shape: (shape) => {
      rules.shape = { ...PLAIN, isHeld: rules.shape.isHeld, ...shape };
      for (const connection of connections) connection.wake();
    },
    blackHole: (on, leave = 'cut', way = 'both') => {
      rules.blackHole = on ? way : null;
      if (on) return;
      for (const connection of [...connections].filter(({ hasLost }) => hasLost)) {
        if (leave === 'cut') connection.cut();
        else connection.die();
      }
    },
    hold: (on) => {
      rules.shape = { ...rules.shape, isHeld: on };
      for (const connection of connections) connection.wake();
    },
    dropNextResponse: (match, signal) => armed(rules, match, (settle) => ({ what: 'drop', done: () => settle(true) }), false, signal),
    truncateNextRequest: (bytes, match, signal) =>
      armed(rules, match, (settle) => ({ what: 'truncate', bytes, done: () => settle(true) }), false, signal),
    holdNextRequest: async (match, signal) => {
      const held = await armed<Held | null>(rules, match, (settle) => ({ what: 'hold', done: settle }), null, signal);
      return held === null ? null : { ...held, deliver: () => deliver(held.bytes, target) };
    },
    close: async () => {
      const closed = close();
      for (const connection of [...connections]) connection.cut();
      await closed;
    },
  };
}

/** Puts a fault behind those that wait. Resolves to what it settles with, `otherwise` where `signal` came first. */
function armed<Result>(
  rules: Rules,
  match: Match,
  kind: (settle: (result: Result) => void) => FaultKind,
  otherwise: Result,
  signal?: AbortSignal,
): Promise<Result> {
  return new Promise((resolve) => {
    let isWanted = true;
    const settle = (result: Result): void => {
      isWanted = false;
      signal?.removeEventListener('abort', withdraw);
      resolve(result);
    };
    const fault: Fault = { ...kind(settle), match, isWanted: () => isWanted };
    const withdraw = (): void => {
      const at = rules.faults.indexOf(fault);
      if (at >= 0) rules.faults.splice(at, 1);
      settle(otherwise);
    };
    signal?.addEventListener('abort', withdraw);
    if (signal?.aborted === true) settle(otherwise);
    else rules.faults.push(fault);
  });
}

/** Sends a request of HTTP and reads the first line of its answer. */
function deliver(request: Buffer, target: ProxyOptions['target']): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect({ ...target, noDelay: true });
    socket.once('data', (answer: Buffer) => {
      resolve(answer.toString('latin1', 0, 12) === 'HTTP/1.1 200');
      socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.once('close', () => resolve(false));
    socket.write(request);
  });
}

function listen(host: string, port: number, onConnection: (socket: net.Socket) => void): Promise<net.Server> {
  return new Promise((resolve, reject) => {
    const server = net.createServer({ noDelay: true, allowHalfOpen: true }, onConnection);
    server.once('error', reject);
    server.listen(port, host, () => resolve(server));
  });
}

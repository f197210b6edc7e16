/**
 * The attacker, a process of its own, so that what it does costs the quiet tenant's clients nothing. Told by its parent which attack to begin
 * (`Order`); answers how often it was answered what (`Answers`).
 */
import { setMaxListeners } from 'node:events';
import http from 'node:http';
import { connect, type Socket } from 'node:net';
import os from 'node:os';
import type { Arena, AttackRequest, Host, RequestAttack, SocketAttack, Target } from './attack.ts';
import { attackOf } from './attacks.ts';

export type Order = {
  readonly attack: string;
  readonly target: Target;
  /** After so long no request is begun any more, milliseconds; and what has no answer after so much more is left. */
  readonly attackMs: number;
  readonly graceMs: number;
};

/** How often there was a status, `cut` (the connection was closed without one) or `left` (the attacker did not wait longer). */
export type Answers = Readonly<Record<string, number>>;

/** An attacker elsewhere would not take the CPU of the service. */
const NICE = 10;
const STATUS = /HTTP\/1\.1 (\d{3}) /g;
/** A cut answer of a flood is followed by the next request after so long. */
const PAUSE_MS = 20;

class Counts {
  readonly all: Record<string, number> = {};
  add(what: string): void {
    this.all[what] = (this.all[what] ?? 0) + 1;
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The status of the whole answer; `cut` or `left` without one. */
function send(agent: http.Agent, target: Target, { host, path, method, headers, body }: AttackRequest, left: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(target[host]);
    const failed = (): void => resolve(left.aborted ? 'left' : 'cut');
    try {
      const own = {
        Authorization: `Bearer ${target.key}`,
        ...headers,
        ...(body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) }),
      };
      const options = { agent, hostname, port, path, method: method ?? (body === undefined ? 'GET' : 'POST'), headers: own, signal: left };
      const request = http.request(options, (response) => {
        response.resume();
        response.on('end', () => resolve(String(response.statusCode)));
        response.on('error', () => resolve(left.aborted ? `${String(response.statusCode)} left` : `${String(response.statusCode)} cut`));
      });
      request.on('error', failed);
      request.end(body);
    } catch {
      // a request that this client cannot write
      resolve('unsent');
    }
  });
}

async function sendRequests({ atOnce, request }: RequestAttack, { target, attackMs, graceMs }: Order, counts: Counts): Promise<void> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: atOnce });
  const [end, leave] = [performance.now() + attackMs, new AbortController()];
  setMaxListeners(0, leave.signal);
  let round = 0;
  const client = async (): Promise<void> => {
    while (performance.now() < end) {
      const status = await send(agent, target, request(target, round++), leave.signal);
      counts.add(status);
      if (!/^\d+$/.test(status)) await pause(PAUSE_MS);
    }
  };
  const timer = setTimeout(() => {
    leave.abort();
  }, attackMs + graceMs);
  await Promise.all(Array.from({ length: atOnce }, client));
  clearTimeout(timer);
  agent.destroy();
}

async function openSockets(attack: SocketAttack, { target, attackMs }: Order, counts: Counts): Promise<void> {
  const sockets = new Set<Socket>();
  const timers: NodeJS.Timeout[] = [];
  const arena: Arena = {
    target,
    connect(host: Host, { reads = true, lifeMs = 0, from = '127.0.0.1' } = {}): Socket {
      const { hostname, port } = new URL(target[host]);
      const socket = connect({ host: hostname, port: Number(port), localAddress: from });
      sockets.add(socket);
      let seen = false;
      if (reads)
        socket.on('data', (bytes) => {
          for (const [, status = ''] of bytes.toString('latin1').matchAll(STATUS)) counts.add(status);
          seen = true;
        });
      socket.on('error', () => undefined);
      socket.on('close', () => {
        if (sockets.delete(socket) && !seen) counts.add('cut');
      });
      const leave = (): void => {
        sockets.delete(socket);
        socket.destroy();
      };
      if (lifeMs > 0) timers.push(setTimeout(leave, lifeMs));
      return socket;
    },
    every: (ms, work) => void timers.push(setInterval(work, ms)),
  };
  attack.open(arena);
  await pause(attackMs);
  for (const timer of timers) clearInterval(timer);
  const open = [...sockets];
  sockets.clear();
  for (const socket of open) socket.destroy();
}

os.setPriority(NICE);
process.on('message', (order: Order) => {
  const [counts, attack] = [new Counts(), attackOf(order.attack)];
  const done = 'open' in attack ? openSockets(attack, order, counts) : sendRequests(attack, order, counts);
  void done.then(() => process.send?.(counts.all));
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');

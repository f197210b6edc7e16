import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { relay } from './relay.mjs';
import { BROKER_NAMES, type BrokerName, type BrokerNetwork, type BrokerPorts } from './broker-network.ts';

/** Of networks that are tested (RFC 2544). They are in the namespaces alone: no packet to one leaves them. */
const addressOf = (name: BrokerName): string => `198.18.0.${String(numberOf(name))}`;
const RELAY = path.join(import.meta.dirname, 'relay.mjs');
const numberOf = (name: BrokerName): number => BROKER_NAMES.indexOf(name) + 1;
const run = (command: string, ...args: readonly string[]): void => void execFileSync(command, args, { stdio: 'pipe' });

/**
 * A network of brokers as machines have it: each is in a network namespace of its own, with a cable to a switch, which has the others. A cable that is
 * pulled takes what is under way with it, and nobody is told. Clients, on this host, reach a broker through a socket in the file system. Needs root.
 */
export async function layBrokerCables(ports: Readonly<Record<BrokerName, BrokerPorts>>): Promise<BrokerNetwork> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-cables-'));
  const socketOf = (name: string): string => path.join(folder, name);
  const [bridge, ...hosts] = await Promise.all(
    [holdNamespace(socketOf('switch'), 0), ...BROKER_NAMES.map((name) => holdNamespace(socketOf(name), ports[name].plain))], // prettier-ignore
  );
  const hostOf = (name: BrokerName): ChildProcess => hosts[numberOf(name) - 1] as ChildProcess;
  const within = (holder: ChildProcess, ...args: readonly string[]): void => run('nsenter', ...enter(holder), 'ip', ...args);
  within(bridge, 'link', 'add', 'switch', 'type', 'bridge');
  within(bridge, 'link', 'set', 'switch', 'up');
  for (const name of BROKER_NAMES) {
    const holder = hostOf(name);
    within(holder, 'link', 'set', 'lo', 'up');
    within(bridge, 'link', 'add', name, 'type', 'veth', 'peer', 'name', 'cable', 'netns', String(holder.pid));
    within(bridge, 'link', 'set', name, 'master', 'switch', 'up');
    within(holder, 'address', 'add', `${addressOf(name)}/24`, 'dev', 'cable');
    within(holder, 'link', 'set', 'cable', 'up');
  }
  const doors = await Promise.all(BROKER_NAMES.map((name) => openDoor(ports[name].plain, socketOf(name))));
  return {
    isolate: (name, _how, withClients) => {
      if (withClients) throw new Error('BUG: A cable has no clients.');
      within(bridge, 'link', 'set', name, 'down');
      return Promise.resolve();
    },
    loseOneWay: () => {
      throw new Error('BUG: A cable is pulled for both ways.');
    },
    heal: () => {
      for (const name of BROKER_NAMES) within(bridge, 'link', 'set', name, 'up');
      return Promise.resolve();
    },
    counts: { connections: 0, swallowedBytes: 0 },
    clientPort: () => null,
    place: (name) => ({ launcher: ['nsenter', ...enter(hostOf(name))], listens: '0.0.0.0' }),
    address: (_from, to) => addressOf(to),
    close: async () => {
      for (const holder of [bridge, ...hosts]) holder.kill('SIGKILL');
      await Promise.all(doors.map((door) => new Promise((resolve) => door.close(resolve))));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Why no cables can be laid here; null where they can. */
export function whyNoCables(): string | null {
  try {
    run('unshare', '--net', 'ip', 'link', 'add', 'one', 'type', 'veth', 'peer', 'name', 'other');
    run('unshare', '--net', 'ip', 'link', 'add', 'switch', 'type', 'bridge');
    return null;
  } catch (error) {
    return `network namespaces need root, and unshare and ip: ${error instanceof Error ? error.message.trim() : String(error)}`;
  }
}

const enter = ({ pid }: ChildProcess): string[] => [`--net=/proc/${String(pid)}/ns/net`, '--'];

/** A process with a network namespace, which ends with this one: it takes what comes to a socket of the file system to a port there. */
async function holdNamespace(socket: string, port: number): Promise<ChildProcess> {
  const command = ['--pdeathsig', 'KILL', 'unshare', '--net', process.execPath, RELAY, socket, String(port)];
  const holder = spawn('setpriv', command, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(holder.stdout, 'data');
  return holder;
}

/** Where clients find a broker on this host. */
async function openDoor(port: number, socket: string): Promise<net.Server> {
  const door = relay(() => net.connect({ path: socket }));
  door.listen(port, '127.0.0.1');
  await once(door, 'listening');
  return door;
}

import { readFileSync } from 'node:fs';
import net from 'node:net';

// Ports of engines stay below the range from which the kernel takes the source ports of outgoing connections:
// a client that retries a dead port inside that range can end up connected to itself and so keep the engine off it.
const FIRST_PORT = 20_000;
const EPHEMERAL_RANGE = '/proc/sys/net/ipv4/ip_local_port_range';

/** Returns why a listener on HOST:PORT would fail: 'EADDRINUSE', 'EACCES', 'EADDRNOTAVAIL', …; null when it would work. */
export function portFault(port: number, host = '127.0.0.1'): Promise<string | null> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

/**
 * Finds COUNT different ports that are free now on 127.0.0.1. Nothing holds them: a caller that starts a server on one
 * must be ready to try others.
 */
export async function freePorts(count: number): Promise<number[]> {
  const end = ephemeralStart();
  const ports = new Set<number>();
  for (let attempt = 0; ports.size < count && attempt < 1000; attempt++) {
    const port = FIRST_PORT + Math.floor(Math.random() * (end - FIRST_PORT));
    if (!ports.has(port) && (await portFault(port)) === null) ports.add(port);
  }
  if (ports.size < count) throw new Error(`No ${count} free ports between ${FIRST_PORT} and ${end}.`);
  return [...ports];
}

/** Starts a server on ports that are free; on others when another process takes one of them between the test and the start. */
export async function onFreePorts<T>(count: number, start: (ports: readonly number[]) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const ports = await freePorts(count);
    try {
      return await start(ports);
    } catch (error) {
      const faults = await Promise.all(ports.map((port) => portFault(port)));
      if (attempt === 3 || faults.every((fault) => fault === null)) throw error;
    }
  }
}

/** The first port that the kernel may use as a source port, or Linux's default. */
function ephemeralStart(): number {
  try {
    const start = Number(readFileSync(EPHEMERAL_RANGE, 'utf8').split(/\s+/)[0]);
    if (start > FIRST_PORT + 1000) return start;
  } catch {
    // No /proc: not Linux, where only tests of this file run.
  }
  return 32_768;
}

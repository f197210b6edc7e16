import { portFault } from '../compose/embedded/ports.ts';

// Below those of embedded engines, which may start at the same time, and of clients' own ends of connections; above 10,080, the last one that
// `fetch` refuses to call (https://fetch.spec.whatwg.org/#bad-port).
const FIRST_PORT = 10_100;
const PORTS = 9_900;

/** Ports that are free now, all different, for a listener that is started later. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS);
    if ((await portFault(port)) === null) ports.add(port);
  }
  return [...ports];
}

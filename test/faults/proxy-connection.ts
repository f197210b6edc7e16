import type net from 'node:net';
import { createFaults, type Rules } from './proxy-faults.ts';
import { createLine, type Line } from './proxy-line.ts';
import type { Way } from './proxy-rules.ts';

export type Connection = {
  cut(): void;
  /** Swallows all that comes from now on. */
  die(): void;
  /** Looks again at the shape. */
  wake(): void;
  /** Whether bytes or an end of it vanished, and it is to live on. */ readonly hasLost: boolean;
};

/** Joins a client to the server by the rules, until both have ended or the connection is cut. Ends and resets travel as bytes do. */
export function joinSockets(client: net.Socket, server: net.Socket, rules: Rules, onClosed: () => void): Connection {
  let hasLost = false;
  let isClosed = false;
  let isDead = false;
  const isSilent = (way: Way): boolean => isDead || rules.blackHole === 'both' || rules.blackHole === way;

  const closed = (): void => {
    if (isClosed || !client.destroyed || !server.destroyed) return;
    isClosed = true;
    faults.returnTaken();
    onClosed();
  };
  const cut = (): void => {
    if (isClosed) return;
    rules.counts.cut += 1;
    client.resetAndDestroy();
    server.resetAndDestroy();
    closed();
  };
  const line = (source: net.Socket, target: net.Socket): Line => {
    const made: Line = createLine({
      target,
      shape: () => rules.shape,
      random: rules.random,
      onChange: () => {
        if (made.isFull) source.pause();
        else source.resume();
      },
    });
    return made;
  };
  const up = line(client, server);
  const down = line(server, client);
  const faults = createFaults(rules, { up, down, client, cut });

  const flow = (way: Way, source: net.Socket, out: Line, pass: (bytes: Buffer) => void): void => {
    source.on('data', (bytes: Buffer) => {
      rules.counts.bytes += bytes.length;
      if (isSilent(way)) {
        hasLost = true;
        rules.counts.swallowedBytes += bytes.length;
      } else pass(bytes);
    });
    const over = (tell: () => void): void => {
      if (isSilent(way)) hasLost = true;
      else tell();
    };
    source.on('end', () => over(() => out.end()));
    source.on('error', () => over(() => out.reset()));
    source.on('close', closed);
  };
  flow('up', client, up, faults.onRequestBytes);
  flow('down', server, down, faults.onAnswerBytes);
  return {
    cut,
    die: () => {
      isDead = true;
    },
    wake: () => {
      up.wake();
      down.wake();
    },
    get hasLost() {
      return hasLost && !isDead;
    },
  };
}

import type { ISocketFactory } from 'kafkajs';
import net from 'node:net';

const KEEP_ALIVE_MS = 60_000;
/** Longer than any answer takes: a request to join a group is answered within the rebalance timeout, 30 s. */
const SILENCE_MS = 40_000;
/** The first answer is which versions the broker knows: one that works has it at hand. */
const FIRST_SILENCE_MS = 5000;
const LOOK_EVERY_MS = 1000;

/**
 * Connections to Kafka that are ended when something was written and nothing has come for 40 s: one that nobody on the way knows any
 * more stays open for many minutes, and kafkajs goes on asking over it. Where nothing has ever come, after 5 s: a broker that stands still
 * takes connections, and kafkajs would ask it again and again, and never another one.
 */
export function socketFactory(
  silenceMs = SILENCE_MS,
  lookEveryMs = LOOK_EVERY_MS,
  firstSilenceMs = Math.min(silenceMs, FIRST_SILENCE_MS),
): ISocketFactory {
  return ({ host, port, onConnect }) => {
    const socket = net.connect({ host, port }, onConnect);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    let [read, written, since] = [0, 0, performance.now()];
    const timer = setInterval(() => {
      const now = performance.now();
      if (socket.bytesRead !== read || socket.bytesWritten === written) {
        [read, written, since] = [socket.bytesRead, socket.bytesWritten, now];
      } else if (now - since >= (read === 0 ? firstSilenceMs : silenceMs)) {
        socket.destroy(new Error(`Kafka has not answered on a connection for ${String(Math.round((now - since) / 1000))} s.`));
      }
    }, lookEveryMs).unref();
    socket.once('close', () => {
      clearInterval(timer);
    });
    return socket;
  };
}

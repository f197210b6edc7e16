import type { ISocketFactory } from 'kafkajs';
import net from 'node:net';
import { ResponseAssembler } from './response-assembler.ts';

const KEEP_ALIVE_MS = 60_000;
/** Longer than any answer takes: a request to join a group is answered within the rebalance timeout, 30 s. */
const SILENCE_MS = 40_000;
/** The first answer is which versions the broker knows: one that works has it at hand. */
const FIRST_SILENCE_MS = 5000;
const LOOK_EVERY_MS = 1000;

/** All connections read into this memory, one after the other: what came is copied before the next read. */
const READ_BUFFER = Buffer.allocUnsafeSlow(256 * 1024);

/**
 * Connections to Kafka that are ended when something was written and nothing has come for 40 s: one that nobody on the way knows any
 * more stays open for many minutes, and kafkajs goes on asking over it. Where nothing has ever come, after 5 s: a broker that stands still
 * takes connections, and kafkajs would ask it again and again, and never another one.
 * Each `data` event has one whole response, in memory that was allocated once for it.
 */
export function socketFactory(
  silenceMs = SILENCE_MS,
  lookEveryMs = LOOK_EVERY_MS,
  firstSilenceMs = Math.min(silenceMs, FIRST_SILENCE_MS),
): ISocketFactory {
  return ({ host, port, onConnect }) => {
    const assembler = new ResponseAssembler((response) => socket.emit('data', response));
    const read = (length: number): boolean => {
      if (!assembler.take(READ_BUFFER.subarray(0, length))) socket.destroy(new Error('What answers is not Kafka.'));
      return !socket.destroyed;
    };
    const socket = net.connect({ host, port, onread: { buffer: READ_BUFFER, callback: read } }, onConnect);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    watch(socket, { silenceMs, lookEveryMs, firstSilenceMs });
    return socket;
  };
}

type Watch = { readonly silenceMs: number; readonly lookEveryMs: number; readonly firstSilenceMs: number };

function watch(socket: net.Socket, { silenceMs, lookEveryMs, firstSilenceMs }: Watch): void {
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
}

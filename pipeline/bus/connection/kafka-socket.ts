import type { ISocketFactory } from 'kafkajs';
import net from 'node:net';
import tls from 'node:tls';
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
 * Connections to Kafka that are ended when a request waits for its answer and nothing has come for 40 s: one that no device on the way
 * knows any more stays open for many minutes, and kafkajs keeps using it. Where nothing has ever come, after 5 s: a broker that is halted
 * accepts connections, and kafkajs would query it again and again, and never another one.
 * Each `data` event has one whole response, in memory that was allocated once for it.
 */
export function socketFactory(
  silenceMs = SILENCE_MS,
  lookEveryMs = LOOK_EVERY_MS,
  firstSilenceMs = Math.min(silenceMs, FIRST_SILENCE_MS),
): ISocketFactory {
  return ({ host, port, ssl, onConnect }) => {
    const waiting = new Waiting();
    const assembler = new ResponseAssembler((response) => {
      waiting.answered();
      socket.emit('data', response);
    });
    const read = (length: number): boolean => {
      waiting.received();
      if (!assembler.take(READ_BUFFER.subarray(0, length))) socket.destroy(new Error('The server does not speak the protocol of Kafka.'));
      return !socket.destroyed;
    };
    const target = { host, port, onread: { buffer: READ_BUFFER, callback: read } };
    const socket = isTls(ssl) ? tls.connect({ ...target, ...serverName(host), ...ssl }, onConnect) : net.connect(target, onConnect);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
    // kafkajs writes each request in one piece
    socket.write = (...args: unknown[]): boolean => {
      waiting.requested();
      return write(...args);
    };
    const timer = setInterval(() => {
      const silent = waiting.silentMs();
      if (silent >= (waiting.neverAnswered ? firstSilenceMs : silenceMs))
        socket.destroy(new Error(`Kafka has not answered on a connection for ${String(Math.round(silent / 1000))} s.`));
    }, lookEveryMs).unref();
    socket.once('close', () => {
      clearInterval(timer);
    });
    return socket;
  };
}

/** kafkajs gives null where its client has no `ssl`. */
const isTls = (ssl: tls.ConnectionOptions | null): ssl is tls.ConnectionOptions => ssl !== null;

/** The name that the certificate must have; an address is compared without it, and may not be sent (RFC 6066, 3). */
const serverName = (host: string): tls.ConnectionOptions => (net.isIP(host) === 0 ? { servername: host } : {});

/** How long an answer is pending on a connection while nothing comes. Each request has one answer: none is sent with acks=0. */
class Waiting {
  #requests = 0;
  #since = 0;
  /** True until anything of Kafka has come; what TLS needs is not of Kafka. */
  neverAnswered = true;

  requested(): void {
    if (this.#requests++ === 0) this.#since = performance.now();
  }

  received(): void {
    this.neverAnswered = false;
    this.#since = performance.now();
  }

  answered(): void {
    if (this.#requests > 0) this.#requests -= 1;
  }

  /** Milliseconds; 0 where no answer is pending. */
  silentMs(): number {
    return this.#requests === 0 ? 0 : performance.now() - this.#since;
  }
}

import type { IncomingMessage } from 'node:http';

/** What is read and discarded of an unwanted body before the connection to its sender is closed. */
export const MAX_DRAIN_BYTES = 1_048_576;
const MAX_DRAIN_MS = 1000;
/** What a chunk counts at least: reading it costs as much, however small it is. */
const LEAST_BYTES = 512;

/** What is left of a request's body: nothing, an end near enough to keep the connection, or too much for that. */
export function unreadBody(request: IncomingMessage): 'nothing' | 'short' | 'long' {
  const { 'content-length': length, 'transfer-encoding': transfer, expect } = request.headers;
  if (request.complete || (length === undefined && transfer === undefined)) return 'nothing';
  // a client that waits for "100 Continue" may or may not send its body after a refusal, so its connection cannot be used again
  return transfer === undefined && expect === undefined && Number(length) <= MAX_DRAIN_BYTES ? 'short' : 'long';
}

/**
 * Reads on, for at most 1 MiB and 1 s, so that the client gets to read the answer: a connection closed over unread bytes is reset,
 * and the reset overtakes the answer. Resolves true when the body's end was reached.
 */
export function drainBody(request: IncomingMessage): Promise<boolean> {
  return new Promise((resolve) => {
    let left = MAX_DRAIN_BYTES;
    const settle = (ended: boolean): void => {
      clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('close', onClose).pause();
      resolve(ended);
    };
    const onData = (chunk: Buffer): void => {
      left -= Math.max(chunk.length, LEAST_BYTES);
      if (left < 0) settle(false);
    };
    const onEnd = (): void => {
      settle(true);
    };
    const onClose = (): void => {
      settle(request.complete);
    };
    const timer = setTimeout(onClose, MAX_DRAIN_MS);
    request.on('error', ignore).on('data', onData).on('end', onEnd).on('close', onClose).resume();
  });
}

function ignore(): void {
  /* the sender has disconnected; no one can be notified */
}

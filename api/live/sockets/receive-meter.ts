import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { BodiesInFlight } from '../../http/bodies-in-flight.ts';
import { POLICY, TRY_AGAIN, type TailEnd } from '../outlet.ts';

/** What a message may be made of, so that what is kept of it is about its bytes. */
export const PARTS = { maxFragments: 64, maxBufferedChunks: 512 };
/** What Node and ws keep of a piece of an unfinished message beside its bytes. */
const PIECE_BYTES = 256;
/** Pings and pongs of a client: MAX_CONTROLS at once, and one more in each CONTROL_MS milliseconds. The service asks for one in 20 s. */
const MAX_CONTROLS = 40;
const CONTROL_MS = 250;
/** What a control frame of a client has before its payload: two bytes and the mask (RFC 6455, 5.2). */
const CONTROL_HEAD = 6;

export type MeteredSocket = {
  readonly socket: WebSocket;
  /** What it is carried by. */
  readonly connection: Duplex;
  readonly tenantId: number;
  readonly close: (end: TailEnd) => void;
};

/**
 * Bounds what a client costs by sending: what has come of messages that are not whole counts for its tenant and the process (`held`), and its
 * control frames have a bucket. One that goes beyond is closed, and nothing more is read of it.
 */
export function meterReceived({ socket, connection, tenantId, close }: MeteredSocket, held: BodiesInFlight, now = monotonic): void {
  let body = held.enter(tenantId);
  /** Bytes that have come of a frame or message that is not whole; and whether a message became whole with this piece. */
  let [pending, isWhole, isClosed] = [0, false, false];
  const refuse = (end: TailEnd): void => {
    if (isClosed) return;
    isClosed = true;
    close(end);
    connection.pause();
  };
  const none = (): void => {
    pending = 0;
    if (body.bytes === 0) return;
    body.leave();
    body = held.enter(tenantId);
  };
  socket.on('message', () => (isWhole = true));
  // ws has read the piece before
  connection.on('data', (piece: Buffer) => {
    if (isClosed) return;
    pending += piece.length;
    if (isWhole || pending <= 0) none();
    else
      try {
        body.add(piece.length + PIECE_BYTES);
      } catch (error) {
        refuse({ code: TRY_AGAIN, reason: (error as Error).message });
      }
    isWhole = false;
  });
  let [controls, since] = [0, now()];
  const control = (payload: Buffer): void => {
    // it is whole, and no part of a message
    pending -= CONTROL_HEAD + payload.length;
    controls = Math.max(0, controls - (now() - since) / CONTROL_MS) + 1;
    since = now();
    if (controls > MAX_CONTROLS) refuse({ code: POLICY, reason: 'Too many pings and pongs.' });
  };
  socket.on('ping', control);
  socket.on('pong', control);
  socket.once('close', () => {
    isClosed = true;
    body.leave();
  });
}

const monotonic = (): number => performance.now();

import type { Writable } from 'node:stream';
import type { WebSocket } from 'ws';
import { WriteGroup } from '../../workers/write-group.ts';
import type { Control, Outlet, TailEnd } from '../outlet.ts';

const LINE_FEED = 10;
/** The control messages of clients that have not requested them: what a client does not get. */
const ALWAYS: ReadonlySet<Control['type']> = new Set(['dropped', 'error']);

/** A tail as frames of a WebSocket: an entry, or `{"_control":…}`, in each. */
export class SocketOutlet implements Outlet {
  /** The client has requested control messages. */
  withControl = false;
  readonly #socket: WebSocket;
  readonly #group: WriteGroup;
  readonly #close: (end: TailEnd) => void;

  /** `connection`: what the socket writes to. */
  constructor(socket: WebSocket, connection: Writable, close: (end: TailEnd) => void) {
    this.#socket = socket;
    this.#group = new WriteGroup(connection);
    this.#close = close;
  }

  get unsent(): number {
    return this.#socket.bufferedAmount;
  }

  entry(text: Buffer): void {
    this.#group.add(text.length);
    for (let from = 0; from <= text.length;) {
      const end = text.indexOf(LINE_FEED, from);
      this.#socket.send(end < 0 && from === 0 ? text : text.subarray(from, end < 0 ? text.length : end), { binary: false });
      if (end < 0) return;
      from = end + 1;
    }
  }

  control(message: Control): void {
    if (this.withControl || ALWAYS.has(message.type) || message['cut'] === true) this.#socket.send(JSON.stringify({ _control: message }));
  }

  close(end: TailEnd): void {
    this.#close(end);
  }
}

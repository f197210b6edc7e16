import { HttpError } from '../../../pipeline/core/errors.ts';
import type { LiveTails } from '../../limits/live-tails.ts';
import { INTERNAL, POLICY } from '../outlet.ts';
import { TailSession, type TailDeps } from '../tail-session.ts';
import { socketOperation } from './described.ts';
import type { OpenSocket, SocketEndpoint } from './live-sockets.ts';
import { SocketOutlet } from './socket-outlet.ts';
import { readTailMessage, type TailMessage } from './tail-message.ts';

/** How long a client may take for its first query. Milliseconds. */
const FIRST_QUERY_MS = 10_000;
/** Messages of a client: MAX_MESSAGES at once, and one more in each MESSAGE_MS milliseconds. */
const MAX_MESSAGES = 20;
const MESSAGE_MS = 500;

const OPERATION = socketOperation({
  ...{ id: 'openTail', summary: 'Entries as they come, over a WebSocket' },
  description:
    'A WebSocket: the client sends a query, and gets an entry in each frame (docs/live.md). The key may be sent as the subprotocol `logweir.bearer.KEY`.',
});

/** `/ws/livetail/{tenant_id}`: entries as they come, for the query of the last message. */
export const tailSockets = (deps: TailDeps, tails: LiveTails, firstQueryMs = FIRST_QUERY_MS): SocketEndpoint => ({
  path: '/ws/livetail/{tenant_id}',
  isNarrowed: true,
  operation: OPERATION,
  tails,
  open: (socket) => {
    new TailSocket(deps, socket, firstQueryMs).start();
  },
});

/** A client that follows one query at a time. */
class TailSocket {
  readonly #deps: TailDeps;
  readonly #open: OpenSocket;
  readonly #outlet: SocketOutlet;
  #session: TailSession | null = null;
  /** The last message that is not looked at yet: those between are not wanted any more. */
  #next: string | null = null;
  #isOpening = false;
  #messages = 0;
  readonly #timers: readonly NodeJS.Timeout[];
  readonly #leave: () => void;

  constructor(deps: TailDeps, open: OpenSocket, firstQueryMs: number) {
    this.#deps = deps;
    this.#open = open;
    this.#outlet = new SocketOutlet(open.socket, open.connection, open.close);
    const leave = deps.unsent.add(this.#outlet);
    const first = setTimeout(() => {
      if (this.#session === null && !this.#isOpening)
        open.close({ code: POLICY, reason: `No query came within ${String(firstQueryMs / 1000)} s.` });
    }, firstQueryMs);
    const refill = setInterval(() => (this.#messages = Math.max(0, this.#messages - 1)), MESSAGE_MS).unref();
    this.#timers = [first, refill];
    this.#leave = leave;
  }

  start(): void {
    const { socket, signal } = this.#open;
    socket.on('message', (data, isBinary) => this.#message(data as Buffer, isBinary));
    signal.addEventListener('abort', () => {
      this.#leave();
      this.#session?.end();
      for (const timer of this.#timers) clearInterval(timer);
    });
  }

  #message(data: Buffer, isBinary: boolean): void {
    this.#messages += 1;
    if (this.#messages > MAX_MESSAGES) {
      this.#open.close({ code: POLICY, reason: 'Too many messages; a query is sent once.' });
      return;
    }
    this.#next = isBinary ? '' : data.toString('utf8');
    if (!this.#isOpening) void this.#follow();
  }

  /** Opens tails until the last message is heeded. */
  async #follow(): Promise<void> {
    this.#isOpening = true;
    for (let text = this.#takeNext(); text !== null; text = this.#takeNext())
      try {
        await this.#replace(readTailMessage(text));
      } catch (error) {
        if (!this.#open.signal.aborted) this.#report(error);
      }
    this.#isOpening = false;
  }

  #takeNext(): string | null {
    const text = this.#open.signal.aborted ? null : this.#next;
    this.#next = null;
    return text;
  }

  /** A new query takes the place of the one before; one that cannot be followed leaves that as it is. */
  async #replace({ control, ...request }: TailMessage): Promise<void> {
    const { principal, requestId, signal } = this.#open;
    const session = new TailSession(this.#deps, { principal, requestId, signal, startedAt: performance.now() }, this.#outlet);
    const before = this.#outlet.withControl;
    this.#outlet.withControl = control;
    try {
      await session.open(request, () => {
        this.#session?.end();
        this.#session = session;
      });
    } catch (error) {
      this.#outlet.withControl = before;
      session.end();
      throw error;
    }
    if (signal.aborted) session.end();
  }

  #report(error: unknown): void {
    const isPublished = error instanceof HttpError;
    this.#outlet.control({
      type: 'error',
      status: isPublished ? error.status : 500,
      detail: isPublished ? error.message : 'The tail failed unexpectedly.',
      ...(isPublished && error.options.retryAfter !== undefined ? { retry_after: error.options.retryAfter } : {}),
    });
    if (!isPublished) this.#open.close({ code: INTERNAL, reason: 'The tail failed unexpectedly.' });
  }
}

import type { Exchange } from '../../http/exchange.ts';
import type { RouteAnswer } from '../../http/route.ts';
import type { LiveTails } from '../../limits/live-tails.ts';
import { TailSession, type TailDeps, type TailRequest } from '../tail-session.ts';
import { StreamOutlet, type TailText } from './stream-outlet.ts';

/** How often the key of a tail is looked at again. Milliseconds. */
const KEY_MS = 500;

export type StreamedTailDeps = { readonly deps: TailDeps; readonly tails: LiveTails };

/**
 * A tail as the answer of a request: it ends with the client, when its key is not accepted any more, and at a stop. Rejects with HttpError
 * where it cannot be opened.
 */
export async function streamedTail(
  exchange: Exchange,
  request: TailRequest,
  text: TailText,
  { deps, tails }: StreamedTailDeps,
): Promise<RouteAnswer> {
  const leave = tails.enter(exchange.principal);
  const outlet = new StreamOutlet(text);
  const { principal, requestId, startedAt, signal } = exchange;
  const session = new TailSession(deps, { principal, requestId, startedAt, signal }, outlet);
  const forget = deps.unsent.add(outlet);
  const timer = setInterval(() => {
    try {
      exchange.checkKey();
    } catch {
      outlet.close();
    }
  }, KEY_MS).unref();
  const close = (): void => {
    outlet.close();
  };
  const end = (): void => {
    clearInterval(timer);
    tails.ending.removeEventListener('abort', close);
    session.end();
    forget();
    leave();
  };
  tails.ending.addEventListener('abort', close, { once: true });
  try {
    await session.open(request);
  } catch (error) {
    end();
    throw error;
  }
  // also where the answer is never read, or the client disconnects while nothing comes
  exchange.response.once('close', end);
  if (exchange.isClosed()) end();
  return { status: 200, stream: ending(outlet, end) };
}

async function* ending<T>(parts: AsyncIterable<T>, end: () => void): AsyncGenerator<T> {
  try {
    yield* parts;
  } finally {
    end();
  }
}

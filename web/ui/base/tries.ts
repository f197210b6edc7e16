/** When something that was refused for now is tried again without a press. */
import { ApiError } from '../../client/client.ts';

/** Seconds before the first try, the second, and so on, where the service is not ready. */
const NOT_READY = [1, 2, 4];
/** Who waits longer than this presses a button. */
const MOST_SECONDS = 60;

/** Seconds until the next try, after so many; null: it is left to the reader. */
export function nextTry({ status, retryAfter }: Pick<ApiError, 'status' | 'retryAfter'>, tries: number): number | null {
  const first = retryAfter === null ? null : Math.max(1, retryAfter);
  if (status === 429) return tries === 0 && first !== null && first <= MOST_SECONDS ? first : null;
  if (status !== 503) return null;
  const own = NOT_READY[tries] ?? null;
  const seconds = own === null ? null : Math.max(own, first ?? 0);
  return seconds === null || seconds > MOST_SECONDS ? null : seconds;
}

/** The same of a part of something long, which waits as often as it is asked to; a service that is not reached counts as one that is not ready. */
function nextPart(error: unknown, tries: number): number | null {
  if (!(error instanceof ApiError)) return nextTry({ status: 503, retryAfter: null }, tries);
  const { status, retryAfter } = error;
  return status === 429 ? nextTry({ status, retryAfter: retryAfter ?? 1 }, 0) : nextTry(error, tries);
}

/** Until the time is over, or it is stopped. */
export function pause(ms: number, on: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (on.aborted) {
      resolve();
      return;
    }
    const end = (): void => {
      clearTimeout(timer);
      on.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    on.addEventListener('abort', end);
  });
}

/** Does a part of something long, again where it is refused for now; `onWait` is told how many seconds it waits. Throws what cannot be waited for, and where it is stopped. */
export async function patiently<T>(run: () => Promise<T>, on: AbortSignal, onWait: (seconds: number) => void): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await run();
    } catch (error) {
      on.throwIfAborted();
      const seconds = nextPart(error, tries);
      if (seconds === null) throw error;
      onWait(seconds);
      await pause(seconds * 1000, on);
      on.throwIfAborted();
    }
  }
}

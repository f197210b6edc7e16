/** When something that was refused for now is tried again without a press. */
import type { ApiError } from '../../client/client.ts';

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

import { setTimeout as sleep } from 'node:timers/promises';
import { HttpError } from '../pipeline/core/errors.ts';

/** What a step waits between two tries, and for how long it tries. Milliseconds. */
const [BETWEEN_MS, DEADLINE_MS] = [1000, 60_000];

/**
 * Does a step that may be repeated, again while it is refused as unavailable (503), for a minute: brokers that have just made a topic may have no leader
 * for it yet. Throws what it threw last.
 */
export async function whileUnavailable<T>(step: () => Promise<T>, times = { betweenMs: BETWEEN_MS, deadlineMs: DEADLINE_MS }): Promise<T> {
  const until = performance.now() + times.deadlineMs;
  for (;;)
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof HttpError) || error.status !== 503 || performance.now() >= until) throw error;
      await sleep(times.betweenMs);
    }
}

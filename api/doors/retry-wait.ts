import { setTimeout as sleep } from 'node:timers/promises';

/** Waits of what is refused for a while, at least and at most. Milliseconds. */
const LEAST_WAIT_MS = 1000;
const MOST_WAIT_MS = 30_000;

/** Waits as long as a refusal requests, within bounds; without a time, the longest. Ends at once where it is aborted. `seconds`: of `Retry-After`. */
export async function waitToRetry(seconds: number | undefined, signal: AbortSignal): Promise<void> {
  const ms = Math.min(Math.max((seconds ?? Infinity) * 1000, LEAST_WAIT_MS), MOST_WAIT_MS);
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

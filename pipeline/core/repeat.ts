import { setTimeout as sleep } from 'node:timers/promises';

/** Runs a step every `ms` milliseconds, never two at a time, until the signal comes, and then once more. The step must not reject. */
export async function repeat(ms: number, signal: AbortSignal, step: () => Promise<void>): Promise<void> {
  let last = false;
  while (!last) {
    await sleep(ms, undefined, { signal }).catch(() => undefined);
    last = signal.aborted;
    await step();
  }
}

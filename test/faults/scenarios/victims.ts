import type { ProcessName } from '../cluster.ts';
import type { ScenarioContext } from '../scenario.ts';

/** A process that has not come back by then will not. */
const LONGEST_WAIT_MS = 300_000;

/** `sink` of `sink-2`. */
export const kindOf = (name: ProcessName): string => name.replace(/-\d$/, '');

/** These, once all of them work; none when the time is over first. */
export async function allUp<Name extends ProcessName>(
  { cluster, over }: ScenarioContext,
  names: readonly Name[],
): Promise<readonly Name[]> {
  const isUp = (): boolean => names.every((name) => cluster.process(name).isUp);
  await within(LONGEST_WAIT_MS, () => over() || isUp());
  return isUp() ? names : [];
}

/** One of these that works, waiting for one where none does; none when the time is over first. */
export async function someUp<Name extends ProcessName>(
  { cluster, random, over }: ScenarioContext,
  names: readonly Name[],
): Promise<Name[]> {
  const up = (): Name[] => names.filter((name) => cluster.process(name).isUp);
  await within(LONGEST_WAIT_MS, () => over() || up().length > 0);
  return up().length === 0 ? [] : [random.pick(up())];
}

/** Polls a condition; false: it did not come within `timeoutMs`. */
export async function within(timeoutMs: number, holds: () => boolean): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (!holds()) {
    if (Date.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return true;
}

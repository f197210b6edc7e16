import { setImmediate as turn } from 'node:timers/promises';

/** Waits, turn by turn of the event loop, until a value is what it should be; throws with the last one after 45 s, on a machine however busy. For tests on fakes. */
export async function eventually<T>(what: string, probe: () => T, holds: (value: T) => boolean): Promise<T> {
  const deadline = performance.now() + 45_000;
  for (;;) {
    const value = probe();
    if (holds(value)) return value;
    if (performance.now() > deadline) throw new Error(`${what} did not come; last: ${JSON.stringify(value)}`);
    await turn();
  }
}

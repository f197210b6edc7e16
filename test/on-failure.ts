const listeners: ((ms: number) => void)[] = [];

/** Is called after each test that failed, with the milliseconds it took: for what helps to find the cause. Needs the runner (test/runner). */
export function onFailure(listener: (ms: number) => void): void {
  listeners.push(listener);
}

/** The runner's. */
export function failed(ms: number): void {
  for (const listener of listeners) listener(ms);
}

/** So long what is to be collected may still be held, by connections to ClickHouse that are idle (2 s) among others. Milliseconds. */
const LATER_MS = 4000;

/**
 * Collects all garbage some seconds later, which stops the process for 20 to 40 ms; does nothing without `--expose-gc`, which role processes
 * are started with. For the end of great work: buffers that were held for seconds lie in V8's old generation, which is left alone until
 * 64 MiB more of them have come, and when little is to be done that may take hours.
 */
export function collectGarbage(): void {
  setTimeout(() => globalThis.gc?.(), LATER_MS).unref();
}

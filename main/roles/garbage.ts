/** How long what is to be collected may still be held, by connections to ClickHouse that are idle (2 s) among others. Milliseconds. */
const LATER_MS = 4000;

let timer: NodeJS.Timeout | undefined;

/**
 * Collects all garbage when it was not called for some seconds, which stops the process for 20 to 40 ms; does nothing without
 * `--expose-gc`, which sinks are started with. For the end of great work: buffers that were held for seconds lie in V8's old
 * generation, which is left alone until 64 MiB more of them have come, and when little is to be done that may take hours.
 */
export function collectGarbage(): void {
  clearTimeout(timer);
  timer = setTimeout(() => {
    globalThis.gc?.();
    // the pages that the first time has emptied are given back by a second one: 110 instead of 135 MiB
    timer = setTimeout(() => globalThis.gc?.(), LATER_MS).unref();
  }, LATER_MS).unref();
}

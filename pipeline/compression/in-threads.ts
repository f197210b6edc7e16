/**
 * Bodies that threads decompress at once in a process. libuv has four threads for everything, and answers are compressed there too: those of a tenant
 * that sends large bodies without end must not take all of them.
 */
const MAX_IN_THREADS = 2;

let running = 0;
/** Those that wait, the first one first. They are bodies that were received, whose bytes are bounded (api/http/bodies-in-flight.ts). */
const waiting: (() => void)[] = [];

/** Does what a thread does, when there is one for it. */
export async function inThreads<Result>(work: () => Result | Promise<Result>): Promise<Result> {
  if (running < MAX_IN_THREADS) running += 1;
  else await new Promise<void>((go) => waiting.push(go));
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }
}

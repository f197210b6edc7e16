import { backpressure } from '../core/errors.ts';

/**
 * Bodies that threads decompress at once in a process. libuv has four threads for everything, and answers are compressed there too: those of a tenant
 * that sends large bodies without end must not take all of them.
 */
const MAX_IN_THREADS = 2;
/** A body that has waited for longer is refused when its turn comes, as one that waits to be parsed (api/limits/parse-turns.ts). Milliseconds. */
const MAX_WAIT_MS = 3500;

type Waiting = { readonly since: number; readonly go: () => void; readonly refuse: (error: Error) => void };

let running = 0;
/** By tenant, the one whose turn comes first. They are bodies that were received, whose bytes are bounded (api/http/bodies-in-flight.ts). */
const waiting = new Map<number, Waiting[]>();

/** Does what a thread does for a tenant, when there is one for it; tenants take turns. Throws HttpError 429 `backpressure` after too long a wait. */
export async function inThreads<Result>(tenantId: number, work: () => Result | Promise<Result>): Promise<Result> {
  if (running < MAX_IN_THREADS) running += 1;
  else await turnOf(tenantId);
  try {
    return await work();
  } finally {
    next();
  }
}

function turnOf(tenantId: number): Promise<void> {
  return new Promise((go, refuse) => {
    const one: Waiting = { since: performance.now(), go, refuse };
    const queue = waiting.get(tenantId);
    if (queue === undefined) waiting.set(tenantId, [one]);
    else queue.push(one);
  });
}

/** Gives the place that is free to the next one. */
function next(): void {
  for (const [tenantId, queue] of waiting) {
    waiting.delete(tenantId);
    const late = queue.findIndex(({ since }) => performance.now() - since <= MAX_WAIT_MS);
    for (const { refuse } of queue.splice(0, late < 0 ? queue.length : late))
      refuse(backpressure('This node is busy with other bodies of this tenant; try again.'));
    const one = queue.shift();
    if (queue.length > 0) waiting.set(tenantId, queue);
    if (one === undefined) continue;
    one.go();
    return;
  }
  running -= 1;
}

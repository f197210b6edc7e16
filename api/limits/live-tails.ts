import { forbidden, rateLimited, storeUnavailable } from '../../pipeline/core/errors.ts';
import type { Service } from '../../pipeline/core/service.ts';
import type { Principal } from '../http/route.ts';

/** Live tails of one tenant that run at once in one process, where its plan allows so many. */
export const MAX_LIVE_TAILS = 20;
/** The wait for a place, in seconds. */
const RETRY_AFTER = 10;

/** The live tails that run in this process: counted for each tenant, and ended when the process stops. */
export class LiveTails implements Service {
  readonly name = 'live tails';
  readonly #running = new Map<number, number>();
  readonly #ending = new AbortController();

  start(): Promise<void> {
    return Promise.resolve();
  }
  stop(): Promise<void> {
    this.#ending.abort();
    return Promise.resolve();
  }

  /** Aborted when the process stops. */
  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  /**
   * Counts a tail in, and gives what counts it out again, which may be called twice. Throws HttpError: 403 above what the plan
   * allows, 429 above MAX_LIVE_TAILS, 503 while the process stops.
   */
  enter({ tenantId, plan: { name, ceilings } }: Principal): () => void {
    if (this.#ending.signal.aborted) throw storeUnavailable();
    const running = this.#running.get(tenantId) ?? 0;
    if (running >= ceilings.liveTails)
      throw forbidden(`The plan ${name} allows ${String(ceilings.liveTails)} live tails at once; close one, or add a payment method.`);
    if (running >= MAX_LIVE_TAILS)
      throw rateLimited(`The tenant has ${String(running)} live tails open; at most ${String(MAX_LIVE_TAILS)} run at once.`, RETRY_AFTER);
    this.#running.set(tenantId, running + 1);
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      const left = (this.#running.get(tenantId) ?? 1) - 1;
      if (left === 0) this.#running.delete(tenantId);
      else this.#running.set(tenantId, left);
    };
  }
}

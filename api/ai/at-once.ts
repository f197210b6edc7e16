import { rateLimited } from '../../pipeline/core/errors.ts';

/** Requests to the model of a tenant that are open at once in a process, and of all tenants. */
const MAX_AT_ONCE = 2;
const MAX_OF_ALL = 32;
/** Seconds. */
const RETRY_AFTER = 5;

/** Counts requests that are open. */
export class AtOnce {
  readonly #open = new Map<number, number>();
  #all = 0;

  /** Takes a place; gives what frees it, once. Throws HttpError 429. */
  enter(tenantId: number): () => void {
    const own = this.#open.get(tenantId) ?? 0;
    if (own >= MAX_AT_ONCE)
      throw rateLimited(
        `The tenant has ${String(MAX_AT_ONCE)} AI requests open, the most at once; try again when one has ended.`,
        RETRY_AFTER,
      );
    if (this.#all >= MAX_OF_ALL) throw rateLimited('Too many AI requests are open on this node; try again later.', RETRY_AFTER);
    this.#open.set(tenantId, own + 1);
    this.#all += 1;
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#all -= 1;
      const left = (this.#open.get(tenantId) ?? 1) - 1;
      if (left > 0) this.#open.set(tenantId, left);
      else this.#open.delete(tenantId);
    };
  }
}

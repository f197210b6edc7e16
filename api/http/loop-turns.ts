/** Longest pause before the next turns, milliseconds. */
const MAX_PAUSE_MS = 20;

/**
 * Turns on the event loop: of each tenant one request begins in an iteration of the loop, so that what others send, and `/health`, waits for one
 * piece of work of a tenant and not for all that it sent at once. What waits for a second turn waits as long as the iteration took, too: a tenant
 * that sends without end has half of the loop at most, and leaves the machine to the queries of others. Who waits is bounded by the tenant's
 * connections.
 */
export class LoopTurns<Tenant extends number | string = number> {
  /** Requests that wait, by their tenants. */
  readonly #waiting = new Map<Tenant, (() => void)[]>();
  /** Tenants of which one has begun in this iteration. */
  readonly #begun = new Set<Tenant>();
  #began = 0;
  #isPlanned = false;

  /** Resolves when a request of the tenant may begin. Undefined where it may at once. */
  next(tenantId: Tenant): Promise<void> | undefined {
    if (!this.#begun.has(tenantId)) {
      this.#begin(tenantId);
      return undefined;
    }
    return new Promise((resolve) => {
      const own = this.#waiting.get(tenantId);
      if (own === undefined) this.#waiting.set(tenantId, [resolve]);
      else own.push(resolve);
    });
  }

  #begin(tenantId: Tenant): void {
    this.#begun.add(tenantId);
    if (this.#isPlanned) return;
    [this.#isPlanned, this.#began] = [true, performance.now()];
    setImmediate(() => {
      this.#over();
    });
  }

  /** The iteration is over. */
  #over(): void {
    for (const tenantId of this.#begun) if (!this.#waiting.has(tenantId)) this.#begun.delete(tenantId);
    const tookMs = performance.now() - this.#began;
    if (this.#waiting.size === 0 || tookMs < 1) this.#turn();
    else
      setTimeout(
        () => {
          this.#turn();
        },
        Math.min(tookMs, MAX_PAUSE_MS),
      );
  }

  #turn(): void {
    this.#isPlanned = false;
    this.#begun.clear();
    for (const [tenantId, own] of this.#waiting) {
      const begin = own.shift();
      if (own.length === 0) this.#waiting.delete(tenantId);
      if (begin === undefined) continue;
      this.#begin(tenantId);
      begin();
    }
  }
}

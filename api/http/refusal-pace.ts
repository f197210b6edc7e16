/** BURST refusals of a tenant are answered at once, and PER_SECOND more each second; the others wait. */
const BURST = 40;
const PER_SECOND = 20;
/** How long one that comes sooner waits. Milliseconds. */
const WAIT_MS = 500;
/** From this number of tenants on, those whose bucket is full again are forgotten. */
const MANY = 1000;

/**
 * When a refusal (429) is sent to a tenant. One that retries at once, on many connections, and does not heed `Retry-After`, costs the
 * process as much as it answers; so it is answered later.
 */
export class RefusalPace {
  readonly #tenants = new Map<number, { tokens: number; at: number }>();

  /** Milliseconds until the next refusal of a tenant is to be sent; `now`: monotonic milliseconds. */
  waitMs(tenantId: number, now: number): number {
    if (this.#tenants.size >= MANY) this.#forget(now);
    const tokens = this.#tokens(tenantId, now);
    this.#tenants.set(tenantId, { tokens: Math.max(0, tokens - 1), at: now });
    return tokens >= 1 ? 0 : WAIT_MS;
  }

  #tokens(tenantId: number, now: number): number {
    const known = this.#tenants.get(tenantId);
    return known === undefined ? BURST : Math.min(BURST, known.tokens + ((now - known.at) / 1000) * PER_SECOND);
  }

  #forget(now: number): void {
    for (const tenantId of this.#tenants.keys()) if (this.#tokens(tenantId, now) >= BURST) this.#tenants.delete(tenantId);
  }
}

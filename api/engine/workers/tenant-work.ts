/** Half-life of work. Milliseconds. */
const HALF_LIFE_MS = 5000;
/** Those with less are forgotten when there are many. Milliseconds. */
const LITTLE_MS = 1;
const MANY = 1000;
/** A tenant that has had more than this lately, and at least half of all, comes after the others. Milliseconds. */
const HEAVY_MS = 2000;

/** The CPU time that queries of each tenant used lately, in workers and in ClickHouse: what has passed counts less and less. */
export class TenantWork {
  readonly #tenants = new Map<number, { ms: number; at: number }>();

  /** How many are known. */
  get size(): number {
    return this.#tenants.size;
  }

  /** Adds what was used until now; `now` by `performance.now()`. */
  add(tenantId: number, ms: number, now: number): void {
    if (this.#tenants.size >= MANY) for (const id of this.#tenants.keys()) if (this.of(id, now) < LITTLE_MS) this.#tenants.delete(id);
    this.#tenants.set(tenantId, { ms: this.of(tenantId, now) + ms, at: now });
  }

  /** Milliseconds. */
  of(tenantId: number, now: number): number {
    const known = this.#tenants.get(tenantId);
    return known === undefined ? 0 : known.ms * 2 ** ((known.at - now) / HALF_LIFE_MS);
  }

  /** Of several together. Milliseconds. */
  ofAll(tenantIds: readonly number[], now: number): number {
    return tenantIds.reduce((sum, id) => sum + this.of(id, now), 0);
  }

  /** True where a tenant's statements are to let those of others pass. */
  isHeavy(tenantId: number, now: number): boolean {
    const own = this.of(tenantId, now);
    return own > HEAVY_MS && 2 * own >= this.ofAll([...this.#tenants.keys()], now);
  }
}

/** Of a second, what the filters of one tenant may take, and those of all; and how much a tenant may have saved up. Milliseconds. */
const SHARE_MS = 500;
const ALL_MS = 750;
const SAVED_MS = 1000;

/** How long the filters of each tenant may work: those of one do not take the time of the others. */
export class CpuShare {
  readonly #tenants = new Map<number, { left: number; at: number }>();

  /** True while the tenant has time left; `now` by `performance.now()`. */
  hasTime(tenantId: number, now: number): boolean {
    const own = this.#tenants.get(tenantId);
    return own === undefined || this.#leftAt(own, now) > 0;
  }

  /** Counts what was done. Milliseconds. */
  spend(tenantId: number, ms: number, now: number): void {
    const own = this.#tenants.get(tenantId) ?? { left: SAVED_MS, at: now };
    own.left = this.#leftAt(own, now) - ms;
    own.at = now;
    this.#tenants.set(tenantId, own);
  }

  /** Forgets tenants whose whole share is left; what a tenant has overdrawn is kept until then. */
  forget(now: number): void {
    for (const [tenantId, own] of this.#tenants) if (this.#leftAt(own, now) >= SAVED_MS) this.#tenants.delete(tenantId);
  }

  #leftAt({ left, at }: { readonly left: number; readonly at: number }, now: number): number {
    const share = Math.min(SHARE_MS, ALL_MS / Math.max(1, this.#busy));
    return Math.min(SAVED_MS, left + ((now - at) * share) / 1000);
  }

  /** The tenants whose tails have used up more than half of what they may save. */
  get #busy(): number {
    let count = 0;
    for (const { left } of this.#tenants.values()) if (left < SAVED_MS / 2) count += 1;
    return count;
  }
}

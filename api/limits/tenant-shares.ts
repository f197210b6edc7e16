import type { Principal } from '../tenants/principal.ts';
import type { SharedCounts } from './shared-counts.ts';
import { FULL_AFTER, fullBucket, refill, type Bucket } from './token-bucket.ts';

/** A tenant's part of a rate. `weight`: the rate of its plan. `others`: what the other nodes had charged when it was last looked at. */
export type Share = { bucket: Bucket; readonly rate: number; readonly others: number; readonly weight: number };

/**
 * The shares of the tenants that have sent to this node within the last 10 seconds, by the rates of their plans, and a bucket for each. They
 * add up to the whole rate, so a tenant alone has all of it.
 */
export class TenantShares {
  readonly #rate: number;
  readonly #counts: SharedCounts;
  /** The one used longest ago first. */
  readonly #shares = new Map<number, Share>();
  #weights = 0;

  /** `rate`: of the whole, entries per second. */
  constructor(rate: number, counts: SharedCounts) {
    this.#rate = rate;
    this.#counts = counts;
  }

  /** The tenant's share as of now, microseconds. */
  of({ tenantId, plan }: Principal, now: number): Share {
    this.#forget(now);
    const known = this.#shares.get(tenantId);
    const weight = Math.min(Math.max(plan.entriesPerSecond, 1), this.#rate);
    this.#weights += weight - (known?.weight ?? 0);
    const rate = Math.max(1, Math.floor((this.#rate * weight) / this.#weights));
    const others = this.#counts.othersCharged(tenantId);
    const bucket = known === undefined ? fullBucket(rate, now) : refill(known.bucket, rate, now, Math.max(others - known.others, 0));
    const share = { bucket, rate, others, weight };
    this.#shares.delete(tenantId);
    this.#shares.set(tenantId, share);
    return share;
  }

  #forget(now: number): void {
    for (const [tenantId, { bucket, weight }] of this.#shares) {
      if (now - bucket.at < FULL_AFTER) return;
      this.#shares.delete(tenantId);
      this.#weights -= weight;
    }
  }
}

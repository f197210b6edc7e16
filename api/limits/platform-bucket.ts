import { rateLimited } from '../../pipeline/core/errors.ts';
import type { Principal } from '../http/route.ts';
import type { IngestLimit } from './ingest-limit.ts';
import type { SharedCounts } from './shared-counts.ts';
import { FULL_AFTER, fullBucket, giveBack, refill, spend, takePlatform, type Bucket } from './token-bucket.ts';

export type PlatformBucketOptions = {
  readonly counts: SharedCounts;
  /** Entries per second over all tenants, 1 to MAX_RATE. */
  readonly rate: number;
  /** Whole microseconds of a monotonic clock. */
  readonly now: () => number;
};

/** A tenant's part of the bucket. `weight`: the rate of its plan. `others`: what the other nodes had charged when it was last looked at. */
type Share = { bucket: Bucket; rate: number; others: number; weight: number };

/**
 * One bucket for all tenants of all nodes. Each tenant that has sent to this node within the last 10 seconds has a share of the rate, by the rates
 * of their plans, and a bucket of its own of that rate. While the whole is empty, a tenant whose own bucket is empty too is refused, small requests as
 * large ones. One that keeps to its share is not, as long as the debt of the whole is less than half of what it may
 * be. The shares add up to the whole, so a tenant alone has all of it.
 */
export function platformBucket({ counts, rate, now }: PlatformBucketOptions): IngestLimit {
  let bucket = fullBucket(rate, now());
  let others = counts.othersTotal();
  const mostDebt = bucket.tokens / 2;
  /** Of tenants that have sent lately; the one that has not for the longest time first. */
  const shares = new Map<number, Share>();
  let weights = 0;

  function refillAll(at: number): void {
    const total = counts.othersTotal();
    bucket = refill(bucket, rate, at, Math.max(total - others, 0));
    others = total;
    for (const [tenantId, share] of shares) {
      if (at - share.bucket.at < FULL_AFTER) return;
      shares.delete(tenantId);
      weights -= share.weight;
    }
  }

  /** The tenant's share as of now. */
  function shareOf({ tenantId, plan }: Principal, at: number): Share {
    const known = shares.get(tenantId);
    const weight = Math.min(plan.entriesPerSecond, rate);
    weights += weight - (known?.weight ?? 0);
    const own = Math.max(1, Math.floor((rate * weight) / weights));
    const charged = counts.othersEntries(tenantId);
    const held = known === undefined ? fullBucket(own, at) : refill(known.bucket, own, at, Math.max(charged - known.others, 0));
    const share = { bucket: held, rate: own, others: charged, weight };
    shares.delete(tenantId);
    shares.set(tenantId, share);
    return share;
  }

  /** Throws while neither the whole has tokens nor the share. */
  function check(share: Share): void {
    if (bucket.tokens > 0 || (share.bucket.tokens > 0 && bucket.tokens > -mostDebt)) return;
    const { retryAfter } = takePlatform(bucket, rate, 1);
    throw rateLimited(
      `All tenants together send more than the platform's ${String(rate)} entries/s; try again in ${String(retryAfter)} s.`,
      retryAfter ?? 1,
    );
  }

  return {
    name: 'platform bucket',
    charge(principal, entries) {
      const at = now();
      refillAll(at);
      if (entries === 0) return () => undefined;
      const share = shareOf(principal, at);
      check(share);
      const whole = spend(bucket, rate, entries);
      const own = spend(share.bucket, share.rate, entries);
      bucket = whole.bucket;
      share.bucket = own.bucket;
      return () => {
        bucket = giveBack(bucket, rate, whole.debit);
        share.bucket = giveBack(share.bucket, share.rate, own.debit);
      };
    },
  };
}

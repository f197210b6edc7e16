import { rateLimited } from '../../pipeline/core/errors.ts';
import type { IngestLimit } from './ingest-limit.ts';
import type { SharedCounts } from './shared-counts.ts';
import { TenantShares, type Share } from './tenant-shares.ts';
import { fullBucket, giveBack, MICRO, refill, spend, takePlatform } from './token-bucket.ts';

export type PlatformBucketOptions = {
  readonly counts: SharedCounts;
  /** What is counted, as a plural: `entries`. */
  readonly unit: string;
  /** Of it per second over all tenants, 1 to MAX_RATE. */
  readonly rate: number;
  /** Whole microseconds of a monotonic clock. */
  readonly now: () => number;
};

/**
 * One bucket for all tenants of all nodes. While it is empty, a tenant whose share is empty too is refused, small requests as large ones. One
 * that keeps to its share is not, as long as what tenants took within their shares is a debt of less than half of what it may be: how much another
 * one has taken beyond its own, in one request of a million entries for instance, does not count against them.
 */
export function platformBucket({ counts, unit, rate, now }: PlatformBucketOptions): IngestLimit {
  let bucket = fullBucket(rate, now());
  let others = counts.othersTotal();
  /** What was taken within shares alone. */
  let fair = bucket;
  const mostDebt = bucket.tokens / 2;
  const shares = new TenantShares(rate, counts);

  /** Throws while neither the whole has tokens nor the share. */
  function check(share: Share): void {
    if (bucket.tokens > 0 || (share.bucket.tokens > 0 && fair.tokens > -mostDebt)) return;
    const { retryAfter } = takePlatform(bucket, rate, 1);
    const wait = retryAfter ?? 1;
    throw rateLimited(
      `All tenants together send more than the platform's ${String(rate)} ${unit}/s; try again in ${String(wait)} s.`,
      wait,
    );
  }

  return {
    name: 'platform bucket',
    charge(principal, entries) {
      const [at, total] = [now(), counts.othersTotal()];
      bucket = refill(bucket, rate, at, Math.max(total - others, 0));
      fair = refill(fair, rate, at);
      others = total;
      if (entries === 0) return () => undefined;
      const share = shares.of(principal, at);
      check(share);
      const whole = spend(bucket, rate, entries);
      const own = spend(share.bucket, share.rate, entries);
      const within = spend(fair, rate, Math.min(entries, Math.max(0, Math.ceil(share.bucket.tokens / MICRO))));
      bucket = whole.bucket;
      fair = within.bucket;
      share.bucket = own.bucket;
      return () => {
        bucket = giveBack(bucket, rate, whole.debit);
        fair = giveBack(fair, rate, within.debit);
        share.bucket = giveBack(share.bucket, share.rate, own.debit);
      };
    },
  };
}

import { rateLimited } from '../../pipeline/core/errors.ts';
import type { IngestLimit } from './ingest-limit.ts';
import type { SharedCounts } from './shared-counts.ts';
import { fullBucket, giveBack, refill, takePlatform } from './token-bucket.ts';

export type PlatformBucketOptions = {
  readonly counts: SharedCounts;
  /** Entries per second over all tenants, 1 to MAX_RATE. */
  readonly rate: number;
  /** Whole microseconds of a monotonic clock. */
  readonly now: () => number;
};

/** One bucket for all tenants of all nodes. It refuses small requests too. */
export function platformBucket({ counts, rate, now }: PlatformBucketOptions): IngestLimit {
  let bucket = fullBucket(rate, now());
  let others = counts.othersTotal();
  return {
    name: 'platform bucket',
    charge(_principal, entries) {
      const total = counts.othersTotal();
      bucket = refill(bucket, rate, now(), Math.max(total - others, 0));
      others = total;
      const taken = takePlatform(bucket, rate, entries);
      if (taken.retryAfter !== null) {
        throw rateLimited(
          `All tenants together send more than the platform's ${String(rate)} entries/s; try again in ${String(taken.retryAfter)} s.`,
          taken.retryAfter,
        );
      }
      bucket = taken.bucket;
      return () => {
        bucket = giveBack(bucket, rate, taken.debit);
      };
    },
  };
}

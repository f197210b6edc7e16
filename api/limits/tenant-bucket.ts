import { rateLimited } from '../../pipeline/core/errors.ts';
import type { IngestLimit, Refund } from './ingest-limit.ts';
import type { SharedCounts } from './shared-counts.ts';
import { burst, FULL_AFTER, fullBucket, giveBack, MAX_RATE, refill, takeTenant, type Bucket } from './token-bucket.ts';

export type TenantBucketOptions = {
  readonly counts: SharedCounts;
  /** What is counted, as a plural: `entries`. */
  readonly unit: string;
  /** Whole microseconds of a monotonic clock. */
  readonly now: () => number;
  /** Buckets that are kept whatever their state. */
  readonly keep?: number;
};

/** A tenant's bucket, and what the other nodes had charged when it was last looked at. */
type State = { bucket: Bucket; others: number };

/** The contract's wait where a plan takes nothing. Seconds. */
const BLOCKED_RETRY_AFTER = 60;

/**
 * The bucket of each tenant, at the rate of its plan (above MAX_RATE: none; 0: blocked), drained by the other nodes' charges too. Beyond `keep`
 * tenants the buckets that were not used for FULL_AFTER are forgotten: they are full, as new ones are. So there are never more than
 * `keep` and those in use within the last 10 seconds.
 */
export function tenantBucket({ counts, unit, now, keep = 10_000 }: TenantBucketOptions): IngestLimit {
  /** The one used longest ago first. */
  const states = new Map<number, State>();

  function stateOf(tenantId: number, rate: number, at: number): State {
    const others = counts.othersCharged(tenantId);
    const known = states.get(tenantId);
    if (known === undefined) {
      forget(at);
      const state = { bucket: fullBucket(rate, at), others };
      states.set(tenantId, state);
      return state;
    }
    known.bucket = refill(known.bucket, rate, at, Math.max(others - known.others, 0));
    known.others = others;
    states.delete(tenantId);
    states.set(tenantId, known);
    return known;
  }

  function forget(at: number): void {
    for (const [tenantId, { bucket }] of states) {
      if (states.size < keep || at - bucket.at < FULL_AFTER) return;
      states.delete(tenantId);
    }
  }

  /** Takes the entries from the bucket, or throws. */
  function take(tenantId: number, rate: number, entries: number): Refund {
    const state = stateOf(tenantId, rate, now());
    const { bucket, debit, retryAfter } = takeTenant(state.bucket, rate, entries);
    if (retryAfter !== null) throw emptyBucket(unit, rate, entries, retryAfter);
    state.bucket = bucket;
    return () => {
      state.bucket = giveBack(state.bucket, rate, debit);
    };
  }

  return {
    name: 'tenant bucket',
    charge({ tenantId, plan }, entries) {
      const rate = plan.entriesPerSecond;
      if (entries === 0) return () => undefined;
      if (rate === 0) throw rateLimited(`The plan ${plan.name} takes no ${unit}: its rate is zero.`, BLOCKED_RETRY_AFTER);
      const giveTokensBack = rate <= MAX_RATE ? take(tenantId, rate, entries) : null;
      counts.charged(tenantId, entries);
      return () => {
        giveTokensBack?.();
        counts.charged(tenantId, -entries);
      };
    },
  };
}

const emptyBucket = (unit: string, rate: number, entries: number, retryAfter: number): Error =>
  rateLimited(
    `The tenant sends more than its ${String(rate)} ${unit}/s and is in debt; a request of ${String(entries)} ${unit} must wait ` +
      `${String(retryAfter)} s. Requests of at most ${String(burst(rate))} ${unit} are taken now.`,
    retryAfter,
  );

import { rateLimited } from '../../pipeline/core/errors.ts';
import type { Principal } from '../tenants/principal.ts';
import { BURST_SECONDS, FULL_AFTER, fullBucket, MAX_RATE, refill, takePlatform, type Bucket } from './token-bucket.ts';

/** Counts one query of a key, or throws a 429 with the time to wait. */
export type QueryRate = (principal: Principal) => void;

export type QueryRateOptions = {
  /** Whole microseconds of a monotonic clock. */
  readonly now?: () => number;
  /** Buckets that are kept whatever their state. */
  readonly keep?: number;
};

const MICRO = 1_000_000;
const MINUTE = 60;
/**
 * The arithmetic is that of the ingest buckets, whose burst is BURST_SECONDS of the rate. A query costs as many tokens: a full bucket
 * holds as many queries as the rate allows. Time runs slower: it fills in a minute.
 */
const COST = BURST_SECONDS;
const SLOWNESS = MINUTE / BURST_SECONDS;
/** The wait where a plan allows no query at all. Seconds. */
const BLOCKED_RETRY_AFTER = 60;

/**
 * A token bucket for each key, at the rate of its plan (above MAX_RATE: none), with a burst of one minute's allowance. Beyond `keep`
 * keys the buckets that were not used for two minutes are forgotten: they are full, as new ones are.
 */
export function queryRate({ now = () => Math.floor(performance.now() * 1000), keep = 10_000 }: QueryRateOptions = {}): QueryRate {
  /** The one used longest ago first. */
  const buckets = new Map<string, Bucket>();

  function forget(at: number): void {
    for (const [key, bucket] of buckets) {
      if (buckets.size < keep || at - bucket.at < FULL_AFTER) return;
      buckets.delete(key);
    }
  }

  return ({ tenantId, keyId, plan: { name, queriesPerMinute: rate } }) => {
    if (rate > MAX_RATE) return;
    if (rate < 1) throw rateLimited(`The plan ${name} allows no queries: its query rate is zero.`, BLOCKED_RETRY_AFTER);
    const at = Math.floor(now() / SLOWNESS);
    const key = `${String(tenantId)}/${keyId}`;
    const known = buckets.get(key);
    if (known === undefined) forget(at);
    const bucket = refill(known ?? fullBucket(rate, at), rate, at);
    const missing = COST * MICRO - bucket.tokens;
    buckets.delete(key);
    buckets.set(key, missing > 0 ? bucket : takePlatform(bucket, rate, COST).bucket);
    if (missing <= 0) return;
    const wait = Math.max(1, Math.ceil(((missing / rate) * SLOWNESS) / MICRO));
    throw rateLimited(`The key has used up its ${String(rate)} queries a minute; try again in ${String(wait)} s.`, wait);
  };
}

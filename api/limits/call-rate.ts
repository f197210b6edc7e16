import { ALONE, type SharedCalls } from './shared-calls.ts';
import { BURST_SECONDS, FULL_AFTER, fullBucket, refill, takePlatform, type Bucket } from './token-bucket.ts';

export type CallRateOptions = {
  /** Whole microseconds of a monotonic clock. */
  readonly now?: () => number;
  /** Buckets that are kept whatever their state. */
  readonly keep?: number;
  /** What other nodes count of the same rate; each node by itself if not given. */
  readonly shared?: SharedCalls;
};

/** `others`: what the other nodes had counted when it was last looked at. */
type Shared = Bucket & { readonly others: number };

/** Counts a call of who has this key, at so many calls a minute (1 to MAX_RATE). Returns 0, or the whole seconds to wait where it is refused. */
export type CallRate = ((key: string, perMinute: number) => number) & {
  /** How many calls the key has in its bucket now: those of the last minute, as far as they have not been refilled. */
  usedBy(key: string, perMinute: number): number;
};

const MICRO = 1_000_000;
const MINUTE = 60;
/**
 * The arithmetic is that of the ingest buckets, whose burst is BURST_SECONDS of the rate. A call costs as many tokens: a full bucket
 * holds as many calls as a minute allows. Time runs slower: it fills in a minute.
 */
const COST = BURST_SECONDS;
const SLOWNESS = MINUTE / BURST_SECONDS;

/**
 * A token bucket for each key, with a burst of one minute's allowance. Beyond `keep` keys the buckets that were not used for two minutes are
 * forgotten: they are full, as new ones are, but for what others have counted in the last minute.
 */
export function callRate(options: CallRateOptions = {}): CallRate {
  const { now = () => Math.floor(performance.now() * 1000), keep = 10_000, shared = ALONE } = options;
  /** The one used longest ago first. */
  const buckets = new Map<string, Shared>();

  function forget(at: number): void {
    for (const [key, bucket] of buckets) {
      if (buckets.size < keep || at - bucket.at < FULL_AFTER) return;
      buckets.delete(key);
    }
  }

  const refilled = (key: string, rate: number, at: number): Shared => {
    const known = buckets.get(key);
    const { total, recent } = shared.byOthers(key);
    const elsewhere = known === undefined ? recent : Math.max(0, total - known.others);
    return { ...refill(known ?? fullBucket(rate, at), rate, at, COST * elsewhere), others: total };
  };
  const usedBy = (key: string, rate: number): number => {
    const at = Math.floor(now() / SLOWNESS);
    return Math.max(0, Math.round((fullBucket(rate, at).tokens - refilled(key, rate, at).tokens) / (COST * MICRO)));
  };
  const take = (key: string, rate: number): number => {
    const at = Math.floor(now() / SLOWNESS);
    if (!buckets.has(key)) forget(at);
    const bucket = refilled(key, rate, at);
    const missing = COST * MICRO - bucket.tokens;
    buckets.delete(key);
    buckets.set(key, missing > 0 ? bucket : { ...takePlatform(bucket, rate, COST).bucket, others: bucket.others });
    if (missing <= 0) shared.called(key);
    return missing <= 0 ? 0 : Math.max(1, Math.ceil(((missing / rate) * SLOWNESS) / MICRO));
  };
  return Object.assign(take, { usedBy });
}

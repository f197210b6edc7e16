/**
 * The arithmetic of the contract's ingest token buckets, exact in integers. A bucket refills at `rate` entries per second up to a
 * burst of 5 seconds' worth and may go into debt by as much again.
 *
 * Tokens are whole micro-entries and times whole microseconds, so that microseconds times entries per second are micro-entries without
 * rounding. Products saturate at 2^52: one that a double cannot hold exactly is above that and becomes the bound itself. A rate is at
 * most MAX_RATE, so a bucket's whole range, 10 seconds' worth, is at most 10^15: a saturated refill still fills it, a saturated cost
 * still empties it, and every sum stays under 2^53.
 */

/** Seconds of the rate that the burst holds, and that the debt may reach. */
export const BURST_SECONDS = 5;
/** Tokens of one entry. */
export const MICRO = 1_000_000;
const BOUND = 2 ** 52;

/** The largest rate that the arithmetic holds exactly, entries per second; far above what a node can take. */
export const MAX_RATE = 100_000_000;
/** A bucket that is not used is full after this time, whatever its rate; microseconds. */
export const FULL_AFTER = 2 * BURST_SECONDS * MICRO;

/** `tokens`: micro-entries, negative in debt. `at`: the latest time it was refilled, microseconds of a monotonic clock. */
export type Bucket = { readonly tokens: number; readonly at: number };

/** What came of a request: the bucket after it, and the micro-entries taken, or the seconds to wait where it was refused. */
export type Taken = { readonly bucket: Bucket; readonly debit: number; readonly retryAfter: number | null };

/** The entries that a bucket of this rate holds when it is full. */
export const burst = (rate: number): number => BURST_SECONDS * rate;

const capacity = (rate: number): number => burst(rate) * MICRO;
const product = (a: number, b: number): number => Math.min(a * b, BOUND);
const clamped = (tokens: number, rate: number): number => Math.max(Math.min(tokens, capacity(rate)), -capacity(rate));

/** A bucket that was never used. */
export const fullBucket = (rate: number, now: number): Bucket => ({ tokens: capacity(rate), at: now });

/**
 * The bucket at `now`, after others took `elsewhere` entries from it since it was last refilled. A clock that goes backwards refills
 * nothing, nor the same time again. What others took is set off against the refill of the same time before the bounds apply, since
 * when they took it is not known: a tenant that keeps to its rate never goes into debt by this. A bucket of another rate (the plan has
 * changed) keeps its tokens within the new bounds.
 */
export function refill({ tokens, at }: Bucket, rate: number, now: number, elsewhere = 0): Bucket {
  const refilled = product(Math.max(now - at, 0), rate) - product(elsewhere, MICRO);
  return { tokens: clamped(tokens + refilled, rate), at: Math.max(now, at) };
}

/**
 * Takes the entries of a request from a tenant's bucket, refilled for now. A request that fits inside the burst is never refused;
 * a larger one is where the bucket is empty (its debt would then always be deeper than the burst). At least 1 entry per second.
 */
export function takeTenant(bucket: Bucket, rate: number, entries: number): Taken {
  return entries > burst(rate) && bucket.tokens <= 0 ? refused(bucket, rate) : spend(bucket, rate, entries);
}

/** The same from the platform's bucket: whatever its size, a request is refused while the bucket is empty. */
export function takePlatform(bucket: Bucket, rate: number, entries: number): Taken {
  return entries > 0 && bucket.tokens <= 0 ? refused(bucket, rate) : spend(bucket, rate, entries);
}

/** Gives back what a request took; never above the burst. */
export function giveBack({ tokens, at }: Bucket, rate: number, debit: number): Bucket {
  return { tokens: clamped(tokens + debit, rate), at };
}

/** Takes the entries of a request whatever the bucket holds, down to its floor. */
export function spend(bucket: Bucket, rate: number, entries: number): Taken {
  const tokens = clamped(bucket.tokens - product(entries, MICRO), rate);
  return { bucket: { tokens, at: bucket.at }, debit: bucket.tokens - tokens, retryAfter: null };
}

/** The wait is until the debt is paid, in whole seconds, at least one. */
function refused(bucket: Bucket, rate: number): Taken {
  return { bucket, debit: 0, retryAfter: Math.max(1, Math.ceil(-bucket.tokens / (rate * MICRO))) };
}

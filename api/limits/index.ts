import { dailyVolume } from './daily-volume.ts';
import type { IngestLimit } from './ingest-limit.ts';
import { platformBucket } from './platform-bucket.ts';
import { pressure } from './pressure.ts';
import type { SharedCounts } from './shared-counts.ts';
import { tenantBucket } from './tenant-bucket.ts';
import { MAX_RATE } from './token-bucket.ts';

export type IngestLimitsOptions = {
  readonly counts: SharedCounts;
  /** What the signal counts, as a plural: `entries`. */
  readonly unit: string;
  /** False where no rate bounds it. */
  readonly isRated?: boolean;
  /** Of this unit, per second over all tenants; 0, or more than MAX_RATE, is off. */
  readonly platformPerSecond: number;
  /** The event loop's lag, milliseconds. */
  readonly lagMs: () => number;
  /** Whether a tenant's bodies take as much of the event loop as others' do, or more. */
  readonly isHeavy: (tenantId: number) => boolean;
  /** Whole microseconds of a monotonic clock. */
  readonly now?: () => number;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
};

/** The limits of one signal of the ingest plane in the contract's order: trial and quota, pressure, the tenant's bucket, the platform's bucket. */
export function ingestLimits(options: IngestLimitsOptions): readonly IngestLimit[] {
  const { counts, unit, platformPerSecond: rate, lagMs, isHeavy, isRated = true } = options;
  const now = options.now ?? ((): number => Math.floor(performance.now() * 1000));
  const clock = options.clock ?? Date.now;
  return [
    dailyVolume({ counts, clock }),
    pressure({ counts, unit, lagMs, isHeavy }),
    ...(isRated ? [tenantBucket({ counts, unit, now })] : []),
    ...(isRated && rate > 0 && rate <= MAX_RATE ? [platformBucket({ counts, unit, rate, now })] : []),
  ];
}

import { dayOf, dayText } from '../../pipeline/core/day-counts.ts';
import { GB, OVER_PRICE, type Plan } from '../tenants/plans.ts';
import type { UsageCounts } from './usage-counts.ts';

/** Days whose volume is known: today and those before it. */
export const VOLUME_DAYS = 3;

/** A signal that tenants send, and its topic. */
export type BilledSignal = { readonly name: string; readonly topic: string };
export type VolumeCounts = Pick<UsageCounts, 'bytesOf' | 'pendingBytesOf'>;
/** Where volumes come from. `clock`: milliseconds since the epoch. */
export type VolumeSource = { readonly counts: VolumeCounts; readonly signals: readonly BilledSignal[]; readonly clock: () => number };

/** The volume of a tenant on a UTC day. Bounds that the plan does not have are null. */
export type DayVolume = {
  readonly day: string;
  readonly bytes: number;
  /** What of it the usage processor has not read yet. */
  readonly pendingBytes: number;
  readonly signals: Readonly<Record<string, number>>;
  readonly included: number | null;
  readonly ceiling: number | null;
  /** Beyond the included volume, and what that costs in US dollars: nothing where the plan is not paid, which stops there. */
  readonly overBytes: number;
  readonly cost: number;
};

/** The volumes of the days that are known, today's first. */
export function volumeOfDays(
  { tenantId, plan }: { readonly tenantId: number; readonly plan: Plan },
  { counts, signals, clock }: VolumeSource,
): DayVolume[] {
  const today = dayOf(clock());
  return Array.from({ length: VOLUME_DAYS }, (_, back) => {
    const day = today - back;
    const bytes = counts.bytesOf(tenantId, day);
    const overBytes = plan.paid ? Math.max(0, bytes - plan.dailyBytes) : 0;
    return {
      ...{ day: dayText(day), bytes, pendingBytes: counts.pendingBytesOf(tenantId, day), overBytes },
      signals: Object.fromEntries(signals.map(({ name, topic }) => [name, counts.bytesOf(tenantId, day, topic)])),
      included: finite(plan.dailyBytes),
      ceiling: finite(plan.ceilingBytes),
      cost: (overBytes / GB) * OVER_PRICE,
    };
  });
}

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);

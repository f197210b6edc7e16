import { rateLimited } from '../../pipeline/core/errors.ts';
import type { Plan } from '../tenants/plans.ts';
import type { IngestLimit } from './ingest-limit.ts';
import type { SharedCounts } from './shared-counts.ts';

const DAY_MS = 86_400_000;
/** The contract's wait, although only a new day, or a payment, ends the refusal. Seconds. */
const RETRY_AFTER = 60;

export type DailyVolumeOptions = {
  readonly counts: SharedCounts;
  /** Milliseconds since the epoch; the day is that of UTC. */
  readonly clock: () => number;
};

/**
 * The daily volume of the plan: a plan whose included volume is zero takes nothing, an unpaid one stops at its included volume and a
 * paid one at its ceiling. What counts is the volume so far, before the body is read: the request that crosses the line is accepted
 * whole.
 */
export function dailyVolume({ counts, clock }: DailyVolumeOptions): IngestLimit {
  return {
    name: 'daily volume',
    admit({ tenantId, plan }) {
      if (plan.dailyBytes === 0) throw rateLimited(zeroQuota(plan), RETRY_AFTER);
      const stop = plan.paid ? plan.ceilingBytes : plan.dailyBytes;
      if (stop === Infinity) return;
      const used = counts.bytesOf(tenantId, Math.floor(clock() / DAY_MS));
      if (used >= stop) throw rateLimited(usedUp(plan, used, stop), RETRY_AFTER);
    },
  };
}

function zeroQuota(plan: Plan): string {
  if (plan.paid) return `The daily ingest quota is zero for the tier ${plan.name}.`;
  return `The daily ingest quota is zero for the tier ${plan.name} because the trial expired; add a payment method to go on.`;
}

function usedUp(plan: Plan, used: number, stop: number): string {
  const bound = plan.paid ? 'safety ceiling' : 'included volume';
  return (
    `The daily volume quota is used up: ${String(used)} bytes of the ${bound} of the plan ${plan.name}, ${String(stop)} bytes; ` +
    'it clears at 00:00 UTC.'
  );
}

import { dayOf, dayText } from '../../pipeline/core/day-counts.ts';
import { requireTenant } from '../control/accounts.ts';
import type { ControlStore } from '../control/control-store.ts';
import { effectivePlan } from '../control/flags.ts';
import type { UsageCounts } from '../limits/usage-counts.ts';
import { tenantIdOf, type AdminRoute } from './admin-routes.ts';

/** Days that are shown: today and the two before it. */
const DAYS = 3;

/** A signal that tenants send, and its topic. */
export type BilledSignal = { readonly name: string; readonly topic: string };

/** The daily volume of a tenant, in all and by signal, the latest day first; bounds that the plan does not have are null. */
export function usageRoute(
  control: ControlStore,
  counts: Pick<UsageCounts, 'bytesOf' | 'pendingBytesOf'>,
  signals: readonly BilledSignal[],
  clock: () => number = Date.now,
): AdminRoute {
  return {
    method: 'GET',
    path: '/admin/tenants/{tenant}/usage',
    handle: ({ params }) => {
      const id = tenantIdOf(params);
      const { dailyBytes, ceilingBytes } = effectivePlan(requireTenant(control, id));
      const today = dayOf(clock());
      const body = Array.from({ length: DAYS }, (_, back) => ({
        tenant_id: id,
        day: dayText(today - back),
        bytes: counts.bytesOf(id, today - back),
        pending_bytes: counts.pendingBytesOf(id, today - back),
        signals: Object.fromEntries(signals.map(({ name, topic }) => [name, counts.bytesOf(id, today - back, topic)])),
        included: finite(dailyBytes),
        ceiling: finite(ceilingBytes),
      }));
      return Promise.resolve({ status: 200, body });
    },
  };
}

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);

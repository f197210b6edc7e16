import { requireTenant } from '../control/accounts.ts';
import type { ControlStore } from '../control/control-store.ts';
import { effectivePlan } from '../control/flags.ts';
import { volumeOfDays, type BilledSignal, type VolumeCounts } from '../limits/day-volume.ts';
import { tenantIdOf, type AdminRoute } from './admin-routes.ts';

/** The daily volume of a tenant, in all and by signal, the latest day first; bounds that the plan does not have are null. */
export function usageRoute(
  control: ControlStore,
  counts: VolumeCounts,
  signals: readonly BilledSignal[],
  clock: () => number = Date.now,
): AdminRoute {
  return {
    method: 'GET',
    path: '/admin/tenants/{tenant}/usage',
    handle: ({ params }) => {
      const id = tenantIdOf(params);
      const plan = effectivePlan(requireTenant(control, id));
      const body = volumeOfDays({ tenantId: id, plan }, { counts, signals, clock }).map((day) => ({
        ...{ tenant_id: id, day: day.day, bytes: day.bytes, pending_bytes: day.pendingBytes, signals: day.signals },
        ...{ included: day.included, ceiling: day.ceiling },
      }));
      return Promise.resolve({ status: 200, body });
    },
  };
}

import { rateLimited } from '../../pipeline/core/errors.ts';
import type { Route } from '../http/route.ts';
import { callRate, type CallRateOptions } from '../limits/call-rate.ts';

/** Requests that change something (rules, webhooks, settings, alerts) of a tenant, in any minute and at once. Each is a record that every process reads. */
export const MAX_CHANGES = 300;

/** Counts a change of a tenant. Throws HttpError 429 over the rate. */
export type ChangeGate = (tenantId: number) => void;

export function changeGate(options: CallRateOptions = {}): ChangeGate {
  const waitOf = callRate(options);
  return (tenantId) => {
    const wait = waitOf(`changes/${String(tenantId)}`, MAX_CHANGES);
    if (wait > 0)
      throw rateLimited(`The tenant has used up its ${String(MAX_CHANGES)} changes a minute; try again in ${String(wait)} s.`, wait);
  };
}

/** Gives routes that need the scope `write` the rate of changes: over it a tenant has 429 with the time to wait. Others stay as they are. */
export function changeRate(admit: ChangeGate = changeGate()): (route: Route) => Route {
  return (route) =>
    route.scope !== 'write'
      ? route
      : {
          ...route,
          handle: (context) => {
            admit(context.principal.tenantId);
            return route.handle(context);
          },
        };
}

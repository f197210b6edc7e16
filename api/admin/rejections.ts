import { requireTenant } from '../control/accounts.ts';
import type { ControlStore } from '../control/control-store.ts';
import { list, members, moment, ok, text, whole, type Operation } from '../http/operation.ts';
import type { Route } from '../http/route.ts';
import { MAX_REJECTIONS } from '../../pipeline/intake/rejections.ts';
import type { RejectedEntry, RejectionLog } from '../ingest/rejection-log.ts';
import { tenantIdOf, type AdminRoute } from './admin-routes.ts';
import type { Peers } from './peers.ts';

/** What the rejections of this instance are read from: this process's own log, and its peers', where it speaks for them. */
export type RejectionSources = { readonly log: RejectionLog; readonly peers?: Peers };

/** `GET /admin/tenants/{tenant}/rejections`: a list, of all processes of this instance; with `?self=1` of this process alone. */
export function rejectionsAdminRoute(sources: RejectionSources, control?: ControlStore): AdminRoute {
  return {
    method: 'GET',
    path: '/admin/tenants/{tenant}/rejections',
    handle: async ({ params, query }) => {
      const tenant = tenantIdOf(params);
      if (query.has('self')) return { status: 200, body: jsonOf(sources.log.of(tenant)) };
      if (control !== undefined) requireTenant(control, tenant);
      return { status: 200, body: jsonOf(await lastRejections(sources, tenant)) };
    },
  };
}

const REJECTIONS: Operation = {
  ...{ id: 'listRejections', tag: 'account', summary: 'What of the tenant was refused last, newest first' },
  answers: ok(
    members({
      rejections: list(
        members(
          {
            time: moment(),
            format: text(),
            request_id: text(),
            path: text(),
            client: text(),
            reason: text(),
            sample: text(),
            status: whole(),
          },
          { index: whole('The place in the request; null of a whole one.').allow(null), count: whole() },
        ),
      ),
    }),
  ),
};

/** `GET /api/v1/tenants/{tenant_id}/rejections`: what the tenant itself is shown. */
export function rejectionsRoute(sources: RejectionSources): Route {
  return {
    method: 'GET',
    path: '/api/v1/tenants/{tenant_id}/rejections',
    scope: 'read',
    operation: REJECTIONS,
    handle: async ({ principal }) => ({
      status: 200,
      body: jsonOf({ rejections: await lastRejections(sources, principal.tenantId) }),
    }),
  };
}

/** The last 100 rejections of a tenant, the newest first. */
async function lastRejections({ log, peers }: RejectionSources, tenant: number): Promise<RejectedEntry[]> {
  const others = (await peers?.query(`/admin/tenants/${String(tenant)}/rejections?self=1`)) ?? [];
  return [...log.of(tenant), ...others.flatMap(({ body }) => (Array.isArray(body) ? (body as readonly RejectedEntry[]) : []))]
    .sort((a, b) => (a.time < b.time ? 1 : a.time > b.time ? -1 : 0))
    .slice(0, MAX_REJECTIONS);
}

/** JSON in which no control character of a sample is left as itself: JSON lets those from U+007F to U+009F pass. */
function jsonOf(value: object): string {
  return JSON.stringify(value).replace(/[\u007f-\u009f]/g, (control) => `\\u00${control.charCodeAt(0).toString(16)}`);
}

import Joi from 'joi';
import { notFound } from '../../pipeline/core/errors.ts';
import type { ControlStore } from '../control/control-store.ts';
import { deletionOf, deleteTenant } from '../control/deletions.ts';
import type { DeletionRecord } from '../control/records.ts';
import { checkedBody } from '../http/checked-body.ts';
import { tenantIdOf, type AdminRoute } from './admin-routes.ts';
import type { Peers } from './peers.ts';

const nameBody = Joi.object<{ name: string }>({ name: Joi.string().required() });

export type DeletionOptions = {
  readonly control: ControlStore;
  readonly peers: Peers;
  /** How long Kafka may keep a record of a tenant: that of its log, and of dead letters. Milliseconds. */
  readonly logKeptMs: number;
  /** Is called when a tenant is deleted, instead of waiting for the next look at its rows. */
  readonly onDeleted: () => void;
};

/** Deleting a tenant, and the certificate of it. */
export function deletionRoutes({ control, peers, logKeptMs, onDeleted }: DeletionOptions): AdminRoute[] {
  return [
    {
      method: 'DELETE',
      path: '/admin/tenants/{tenant}',
      action: 'tenant delete',
      handle: async ({ params, body }) => {
        const { name } = checkedBody(nameBody, await body());
        const deletion = await deleteTenant(control, tenantIdOf(params), name);
        await peers.query(`/admin/control/${control.offset.toString()}`);
        onDeleted();
        return { status: 202, body: certificate(deletion, logKeptMs) };
      },
    },
    {
      method: 'GET',
      path: '/admin/tenants/{tenant}/deletion',
      handle: ({ params }) => {
        const id = tenantIdOf(params);
        const deletion = deletionOf(control, id);
        if (deletion === undefined) throw notFound(`Tenant ${String(id)} is not deleted.`);
        return Promise.resolve({ status: 200, body: certificate(deletion, logKeptMs) });
      },
    },
  ];
}

/** What is known of a deletion. `state`: `deleting` while rows are found, `deleted` when none was found, though the log may still have records of the tenant, `complete` after those have expired. */
function certificate({ tenantId, requestedAt, records, rows, checkedAt }: DeletionRecord, logKeptMs: number): object {
  const logEnds = Date.parse(requestedAt) + logKeptMs;
  const state = checkedAt === null ? 'deleting' : Date.now() < logEnds ? 'deleted' : 'complete';
  return {
    ...{ tenant_id: tenantId, state, requested_at: requestedAt, checked_at: checkedAt },
    ...{ log_ends_at: new Date(logEnds).toISOString(), rows, records },
  };
}

import Joi from 'joi';
import type { ControlStore } from '../control/control-store.ts';
import { createCode } from '../control/session-codes.ts';
import { checkedBody } from '../http/checked-body.ts';
import { tenantIdOf, type AdminRoute } from './admin-routes.ts';
import type { Peers } from './peers.ts';

const codeBody = Joi.object<{ key?: string }>({ key: Joi.string().max(100) });

/** A code that signs a browser in once. `appUrl`: where the app host is reached from this machine. */
export const sessionCodeRoute = (control: ControlStore, peers: Pick<Peers, 'query'>, appUrl: string): AdminRoute => ({
  method: 'POST',
  path: '/admin/tenants/{tenant}/session-codes',
  action: 'session code',
  handle: async ({ params, body }) => {
    const { key } = checkedBody(codeBody, (await body()) ?? {});
    const { code, record } = await createCode(control, tenantIdOf(params), key);
    await peers.query(`/admin/control/${control.offset.toString()}`);
    return {
      status: 201,
      body: {
        ...{ code, url: `${appUrl}/ui/#code=${code}`, tenant_id: record.tenantId, key_id: record.keyId, expires_at: record.expiresAt },
      },
    };
  },
});

import Joi from 'joi';
import type { Json } from '../../pipeline/core/setting.ts';
import { checkedBody } from '../http/checked-body.ts';
import type { Peers } from '../admin/peers.ts';
import type { ControlStore } from '../control/control-store.ts';
import { writeSetting, type SettingCheck } from '../control/processor-settings.ts';
import { settingKey } from '../control/records.ts';
import type { Route, RouteAnswer, RouteContext } from '../http/route.ts';
import * as described from './described.ts';

const PATH = '/api/v1/tenants/{tenant_id}/detectors';

/** A detector, and a sentence on when it fires. */
export type DetectorLook = { readonly name: string; readonly description: string };

/** What the endpoints need; `checks` has the processor that takes the rules, and `sensitivity` names the setting that holds them. */
export type DetectorRoutesOptions = {
  readonly control: ControlStore;
  readonly peers: Pick<Peers, 'query'>;
  readonly detectors: readonly DetectorLook[];
  readonly checks: readonly SettingCheck[];
  readonly sensitivity: { readonly processor: string; readonly key: string };
};

const bodySchema = Joi.object<{ readonly rules: Json }>({ rules: Joi.array().required() });

/**
 * How easily detectors fire of a tenant's streams: `GET` what there is and what is set, `PUT` all rules of the tenant at once, answered after
 * every process of this instance has them.
 */
export function createDetectorRoutes({ control, peers, detectors, checks, sensitivity }: DetectorRoutesOptions): readonly Route[] {
  const rulesOf = (tenantId: number): Json => control.setting(settingKey({ ...sensitivity, tenantId }))?.value ?? [];
  const shown = ({ principal: { tenantId } }: RouteContext): RouteAnswer => ({
    status: 200,
    body: { detectors, rules: rulesOf(tenantId), defaults: rulesOf(0) },
  });
  return [
    { method: 'GET', path: PATH, scope: 'read', operation: described.DETECTORS, handle: (context) => Promise.resolve(shown(context)) },
    {
      method: 'PUT',
      path: PATH,
      scope: 'write',
      operation: described.SET_DETECTORS,
      handle: async (context) => {
        const { tenantId } = context.principal;
        const { rules } = checkedBody(bodySchema, await context.body());
        await writeSetting(control, checks, { ...sensitivity, tenantId, value: rules });
        await peers.query(`/admin/control/${control.offset.toString()}`);
        return shown(context);
      },
    },
  ];
}

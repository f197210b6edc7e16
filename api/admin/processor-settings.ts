import Joi from 'joi';
import { invalidParameter } from '../../pipeline/core/errors.ts';
import type { Json } from '../../pipeline/core/setting.ts';
import type { ControlStore } from '../control/control-store.ts';
import { writeSetting, type SettingCheck } from '../control/processor-settings.ts';
import type { SettingRecord } from '../control/records.ts';
import { checkedQuery, readBy } from '../http/lists.ts';
import type { RouteAnswer } from '../http/route.ts';
import type { AdminRoute } from './admin-routes.ts';
import { checkedBody } from '../http/checked-body.ts';
import type { Peers } from './peers.ts';

const PATH = '/admin/processors/{processor}/settings/{setting}';
const body = Joi.object<{ value: Json; tenant: number }>({
  value: Joi.any().invalid(null).required(),
  tenant: Joi.number().integer().min(1).default(0),
});

/** The settings of processors: `GET` all, `PUT` and `DELETE` one. A change is answered after every process of this instance has it. */
export function processorSettingRoutes(control: ControlStore, peers: Peers, checks: readonly SettingCheck[]): AdminRoute[] {
  const changed = async (
    params: Readonly<Record<string, string>>,
    setting: { readonly tenantId: number; readonly value: Json },
  ): Promise<RouteAnswer> => {
    const { processor = '', setting: key = '' } = params;
    const record = await writeSetting(control, checks, { processor, key, ...setting });
    await peers.query(`/admin/control/${control.offset.toString()}`);
    return { status: 200, body: shown(record) };
  };
  return [
    {
      method: 'GET',
      path: '/admin/processors/settings',
      handle: () => {
        const settings = control.settings.filter(({ value }) => value !== null).map(shown);
        return Promise.resolve({ status: 200, body: settings.sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1)) });
      },
    },
    {
      method: 'PUT',
      path: PATH,
      action: 'processor set',
      handle: async ({ params, body: read }) => {
        const { value, tenant } = checkedBody(body, await read());
        return changed(params, { tenantId: tenant, value });
      },
    },
    {
      method: 'DELETE',
      path: PATH,
      action: 'processor unset',
      handle: ({ params, query }) => changed(params, { tenantId: checkedQuery(PARAMETERS, query).tenant, value: null }),
    },
  ];
}

/** `tenant` is 0 without one. */
const PARAMETERS = Joi.object<{ readonly tenant: number }>({ tenant: readBy(tenantOf).default(0) });

function tenantOf(text: string): number {
  if (!/^(?:0|[1-9]\d{0,14})$/.test(text)) throw invalidParameter('The tenant must be an integer of at least 1.');
  return Number(text);
}

type Shown = {
  readonly processor: string;
  readonly setting: string;
  readonly tenant_id: number | null;
  readonly value: Json;
  readonly version: number;
};

const shown = ({ processor, key, tenantId, value, version }: SettingRecord): Shown => ({
  ...{ processor, setting: key, tenant_id: tenantId === 0 ? null : tenantId, value, version },
});
const orderOf = ({ processor, setting, tenant_id: tenant }: Shown): string =>
  `${processor} ${setting} ${String(tenant ?? 0).padStart(16, '0')}`;

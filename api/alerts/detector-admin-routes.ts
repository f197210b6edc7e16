import Joi from 'joi';
import { invalidParameter } from '../../pipeline/core/errors.ts';
import type { Json } from '../../pipeline/core/setting.ts';
import type { DetectorLook } from './detector-routes.ts';
import { requireTenant } from '../control/accounts.ts';
import type { ControlStore } from '../control/control-store.ts';
import { writeSetting, type SettingCheck } from '../control/processor-settings.ts';
import { settingKey } from '../control/records.ts';
import { switchedOff } from '../control/switched-off.ts';
import type { AdminRoute } from '../admin/admin-routes.ts';
import { checkedBody } from '../http/checked-body.ts';
import type { Peers } from '../admin/peers.ts';

/** A detector, which version of it runs, and whether it is one of others. */
export type ShownDetector = DetectorLook & { readonly version: string; readonly isCustom: boolean };

export type DetectorAdminOptions = {
  readonly control: ControlStore;
  readonly peers: Pick<Peers, 'query'>;
  readonly checks: readonly SettingCheck[];
  readonly detectors: readonly ShownDetector[];
  /** The setting of how easily they fire, and the processor that takes the switches of custom detectors. */
  readonly sensitivity: { readonly processor: string; readonly key: string };
  readonly switches: string;
};

const offBody = Joi.object<{ readonly reason: string }>({ reason: Joi.string().trim().min(1).max(500).default('switched off by hand') });
const PATH = '/admin/detectors/{detector}';

/** `GET /admin/detectors`: all detectors, how easily they fire (of `?tenant`), and whether they are on; `POST …/off` and `…/on` for those of others. */
export function detectorAdminRoutes(options: DetectorAdminOptions): AdminRoute[] {
  const { control, peers, checks, detectors, switches } = options;
  const nameOf = (params: Readonly<Record<string, string>>): string => {
    const { detector: name = '' } = params;
    const found = detectors.find((one) => one.name === name);
    if (found?.isCustom === true) return name;
    const others = detectors.filter(({ isCustom }) => isCustom).map((one) => one.name);
    throw invalidParameter(
      found === undefined
        ? `There is no detector ${JSON.stringify(name)}; those that can be switched are ${others.join(', ') || 'none'}.`
        : `The detector ${name} is the service's own; its sensitivity is set (admin detector set).`,
    );
  };
  const change = async (key: string, value: Json): Promise<{ readonly status: number; readonly body: object }> => {
    await writeSetting(control, checks, { processor: switches, tenantId: 0, key, value });
    await peers.query(`/admin/control/${control.offset.toString()}`);
    return { status: 200, body: shownDetectors(options, null).filter(({ detector }) => detector === key) };
  };
  return [
    {
      method: 'GET',
      path: '/admin/detectors',
      handle: ({ query }) => {
        const tenantId = tenantOf(query);
        if (tenantId !== null) requireTenant(control, tenantId);
        return Promise.resolve({ status: 200, body: shownDetectors(options, tenantId) });
      },
    },
    {
      method: 'POST',
      path: `${PATH}/off`,
      action: 'detector off',
      handle: async ({ params, body }) => {
        const name = nameOf(params);
        const { reason } = checkedBody(offBody, (await body()) ?? {});
        return change(name, { state: 'off', reason, since: new Date().toISOString() });
      },
    },
    { method: 'POST', path: `${PATH}/on`, action: 'detector on', handle: ({ params }) => change(nameOf(params), null) },
  ];
}

type Row = {
  readonly detector: string;
  readonly kind: 'own' | 'custom';
  readonly version: string;
  readonly sensitivity: string;
  readonly state: 'on' | 'off';
  readonly since: string | null;
  readonly reason: string | null;
};

function shownDetectors({ control, detectors, sensitivity, switches }: DetectorAdminOptions, tenantId: number | null): Row[] {
  const rulesOf = (tenant: number): Json => control.setting(settingKey({ ...sensitivity, tenantId: tenant }))?.value ?? [];
  const rules = [...(tenantId === null ? [] : [rulesOf(tenantId)]), rulesOf(0)].flatMap((list) => (Array.isArray(list) ? (list as Json[]) : [])); // prettier-ignore
  return detectors.map(({ name, version, isCustom }) => {
    const off = isCustom ? switchedOff(control, switches, { name, version }) : null;
    return {
      ...{ detector: name, kind: isCustom ? 'custom' : 'own', version, sensitivity: sensitivityText(name, rules) },
      ...{ state: off === null ? 'on' : 'off', since: off?.since ?? null, reason: off?.reason ?? null },
    };
  });
}

/** The sensitivity that the rules give a detector, in their order: `off of {service="web"}; low`. */
function sensitivityText(name: string, rules: readonly Json[]): string {
  const own: string[] = [];
  for (const rule of rules as readonly { readonly detector?: string; readonly stream?: string; readonly sensitivity: string }[]) {
    if ((rule.detector ?? name) !== name) continue;
    if (rule.stream === undefined) return [...own, rule.sensitivity].join('; ');
    own.push(`${rule.sensitivity} of ${rule.stream}`);
  }
  return [...own, 'normal'].join('; ');
}

/** The tenant of `?tenant=`; null without one. */
function tenantOf(query: URLSearchParams): number | null {
  const text = query.get('tenant');
  if (text === null) return null;
  if (!/^[1-9]\d{0,14}$/.test(text)) throw invalidParameter('The tenant must be an integer of at least 1.');
  return Number(text);
}

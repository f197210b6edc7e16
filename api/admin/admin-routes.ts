import Joi from 'joi';
import { invalidParameter } from '../../pipeline/core/errors.ts';
import {
  addPayment,
  ALL_SCOPES,
  createKey,
  createTenant,
  requireTenant,
  revokeKey,
  rotateKey,
  setDisabled,
  setFlag,
  setPlan,
  type IssuedKey,
} from '../control/accounts.ts';
import type { ControlStore } from '../control/control-store.ts';
import { deletionOf } from '../control/deletions.ts';
import { effectivePlan } from '../control/flags.ts';
import type { DeletionRecord, KeyRecord, TenantRecord } from '../control/records.ts';
import { sweepTrials } from '../control/trial-sweep.ts';
import { checkedBody } from '../http/checked-body.ts';
import type { RouteAnswer } from '../http/route.ts';
import type { Scope } from '../tenants/principal.ts';
import type { Peers } from './peers.ts';

/** A route of the internal listener behind the admin token. */
export type AdminRoute = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** Its name in the audit log, of one that changes something. */
  readonly action?: string;
  handle(request: {
    readonly params: Readonly<Record<string, string>>;
    readonly query: URLSearchParams;
    readonly requestId: string;
    body(): Promise<unknown>;
  }): Promise<RouteAnswer>;
};

const scope = Joi.string().valid(...ALL_SCOPES);
const tenantBody = Joi.object<{ name: string; plan: string; signup?: Date }>({
  name: Joi.string().trim().min(1).max(200).required(),
  plan: Joi.string().default('trial'),
  signup: Joi.date().iso().min('2000-01-01').max('now'),
});
const planBody = Joi.object<{ plan: string }>({ plan: Joi.string().required() });
const flagBody = Joi.object<{ value: string | boolean | number }>({
  value: Joi.alternatives(Joi.string(), Joi.boolean(), Joi.number()).required(),
});
const keyBody = Joi.object<{ scopes: Scope[]; expires: string | null }>({
  scopes: Joi.array().items(scope).min(1).unique().default(['read']),
  expires: Joi.string().isoDate().allow(null).default(null),
});

/** Tenants and keys for the operator. Each change is answered only after every process of this instance has it. */
export function adminRoutes(control: ControlStore, peers: Peers): AdminRoute[] {
  const settled = async (answer: RouteAnswer): Promise<RouteAnswer> => {
    await peers.query(`/admin/control/${control.offset.toString()}`);
    return answer;
  };
  const changed = async (tenant: Promise<TenantRecord>): Promise<RouteAnswer> => settled({ status: 200, body: shownTenant(await tenant) });
  const tenant = (
    action: string,
    method: AdminRoute['method'],
    path: string,
    change: (id: number, body: () => Promise<unknown>) => Promise<TenantRecord>,
  ): AdminRoute => ({
    method,
    action: `tenant ${action}`,
    path: `/admin/tenants/{tenant}${path}`,
    handle: ({ params, body }) => changed(change(tenantIdOf(params), body)),
  });
  return [
    { method: 'GET', path: '/admin/tenants', handle: () => Promise.resolve({ status: 200, body: control.tenants().map((tenant) => shownTenant(tenant, deletionOf(control, tenant.id))) }) }, // prettier-ignore
    {
      method: 'POST',
      path: '/admin/tenants',
      action: 'tenant create',
      handle: async ({ body }) => settled(await tenantWithKey(control, checkedBody(tenantBody, await body()))),
    },
    {
      method: 'POST',
      path: '/admin/sweep',
      action: 'sweep',
      handle: async () => settled({ status: 200, body: (await sweepTrials(control, Date.now())).map((tenant) => shownTenant(tenant)) }),
    },
    tenant('disable', 'POST', '/disable', (id) => setDisabled(control, id, true)),
    tenant('enable', 'POST', '/enable', (id) => setDisabled(control, id, false)),
    tenant('add-payment', 'POST', '/add-payment', (id) => addPayment(control, id)),
    tenant('set-plan', 'PUT', '/plan', async (id, body) => setPlan(control, id, checkedBody(planBody, await body()).plan)),
    {
      method: 'PUT',
      path: '/admin/tenants/{tenant}/flags/{flag}',
      action: 'tenant set-flag',
      handle: async ({ params, body }) =>
        changed(setFlag(control, tenantIdOf(params), params['flag'] ?? '', String(checkedBody(flagBody, await body()).value))),
    },
    ...keyRoutes(control, settled),
  ];
}

function keyRoutes(control: ControlStore, settled: (answer: RouteAnswer) => Promise<RouteAnswer>): AdminRoute[] {
  return [
    { method: 'GET', path: '/admin/tenants/{tenant}/keys', handle: ({ params }) => Promise.resolve(listKeys(control, tenantIdOf(params))) },
    {
      method: 'POST',
      path: '/admin/tenants/{tenant}/keys',
      action: 'key create',
      handle: async ({ params, body }) => {
        const { scopes, expires } = checkedBody(keyBody, (await body()) ?? {});
        const expiresAt = expires === null ? null : new Date(expires).toISOString();
        return settled({ status: 201, body: shownSecret(await createKey(control, tenantIdOf(params), scopes, expiresAt)) });
      },
    },
    {
      method: 'POST',
      path: '/admin/tenants/{tenant}/keys/{key}/rotate',
      action: 'key rotate',
      handle: async ({ params }) =>
        settled({ status: 200, body: shownSecret(await rotateKey(control, tenantIdOf(params), params['key'] ?? '')) }),
    },
    {
      method: 'DELETE',
      path: '/admin/tenants/{tenant}/keys/{key}',
      action: 'key revoke',
      handle: async ({ params }) =>
        settled({ status: 200, body: shownKey(control, await revokeKey(control, tenantIdOf(params), params['key'] ?? '')) }),
    },
  ];
}

async function tenantWithKey(
  control: ControlStore,
  { name, plan, signup }: { name: string; plan: string; signup?: Date },
): Promise<RouteAnswer> {
  const { id } = await createTenant(control, name, plan, signup);
  const { secret } = await createKey(control, id, ALL_SCOPES, null);
  return { status: 201, body: { tenant_id: id, key: secret } };
}

function listKeys(control: ControlStore, id: number): RouteAnswer {
  requireTenant(control, id);
  return { status: 200, body: control.keysOf(id).map((key) => shownKey(control, key)) };
}

/** The tenant that an admin route's path names. Throws HttpError 400. */
export function tenantIdOf(params: Readonly<Record<string, string>>): number {
  const text = params['tenant'] ?? '';
  if (!/^[1-9]\d{0,14}$/.test(text)) throw invalidParameter('The tenant must be an integer of at least 1.');
  return Number(text);
}

function shownTenant(tenant: TenantRecord, deletion?: DeletionRecord): object {
  const plan = effectivePlan(tenant);
  const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);
  return {
    tenant_id: tenant.id,
    name: tenant.name,
    plan: tenant.plan,
    disabled: tenant.disabled,
    ...(deletion === undefined ? {} : { deleted_at: deletion.requestedAt }),
    payment: tenant.payment,
    signup_at: tenant.signupAt,
    flags: tenant.flags,
    limits: {
      entries_per_second: finite(plan.entriesPerSecond),
      daily_bytes: finite(plan.dailyBytes),
      ceiling_bytes: finite(plan.ceilingBytes),
      queries_per_minute: finite(plan.queriesPerMinute),
      retention_days: plan.retentionDays === 0 ? null : plan.retentionDays,
    },
    features: plan.features,
    ceilings: {
      users: finite(plan.ceilings.users),
      keys: finite(plan.ceilings.keys),
      live_tails: finite(plan.ceilings.liveTails),
      dashboards: finite(plan.ceilings.dashboards),
      saved_searches: finite(plan.ceilings.savedSearches),
    },
  };
}

function shownKey(control: ControlStore, key: KeyRecord): object {
  const lastUse = control.lastUseOf(key.id);
  return {
    id: key.id,
    tenant_id: key.tenantId,
    scopes: key.scopes,
    created_at: key.createdAt,
    expires_at: key.expiresAt,
    last_used: lastUse === null ? null : new Date(lastUse).toISOString(),
    ...(key.revokedAt === null ? {} : { revoked_at: key.revokedAt }),
  };
}

function shownSecret({ record, secret }: IssuedKey): object {
  return { id: record.id, key: secret, tenant_id: record.tenantId, scopes: record.scopes };
}

import { randomBytes } from 'node:crypto';
import { forbidden, HttpError, invalidParameter, notFound } from '../../pipeline/core/errors.ts';
import type { Scope } from '../tenants/principal.ts';
import { MAX_KEYS, MAX_REVOKED_KEYS } from './bounds.ts';
import type { ControlStore } from './control-store.ts';
import { refuseDeleted } from './deletions.ts';
import { effectivePlan, parseFlag } from './flags.ts';
import { findPlan, PLANS } from '../tenants/plans.ts';
import { keyKey, tenantKey, type KeyRecord, type TenantRecord } from './records.ts';

export const ALL_SCOPES: readonly Scope[] = ['read', 'write', 'ingest'];

/** A key as it is shown once: its record, and the secret that only its owner keeps. */
export type IssuedKey = { readonly record: KeyRecord; readonly secret: string };

/** The plan a payment leads to from a trial. */
const FIRST_PAID_PLAN = 'team';
const BOOTSTRAP_TENANT = 1;
const BOOTSTRAP_KEY_ID = 'bootstrap';

/** A new secret: 256 random bits. */
function newSecret(): string {
  return `lw_${randomBytes(32).toString('base64url')}`;
}

function planName(name: string): string {
  const plan = findPlan(name);
  if (plan === undefined)
    throw invalidParameter(`No plan is named ${JSON.stringify(name)}; there are ${PLANS.map((row) => row.name).join(', ')}.`);
  return plan.name;
}

function newTenant(id: number, name: string, plan: string, signup = new Date()): Omit<TenantRecord, 'version' | 'write'> {
  return { id, name, plan, signupAt: signup.toISOString(), disabled: false, payment: false, flags: {} };
}

/** Thrown inside a write when the id is taken by now. */
class Taken extends Error {}

/**
 * Creates a tenant under the next free id, signed up at `signup`, by default now. Of two nodes that take the same id one sees that it
 * lost, and takes the next.
 */
export async function createTenant(control: ControlStore, name: string, plan: string, signup = new Date()): Promise<TenantRecord> {
  const own = planName(plan);
  for (let id = (control.tenants().at(-1)?.id ?? 0) + 1; ; id++) {
    try {
      return await control.write(
        tenantKey(id),
        () => control.tenant(id),
        (current) => {
          if (current !== undefined) throw new Taken();
          return newTenant(id, name, own, signup);
        },
      );
    } catch (error) {
      if (!(error instanceof Taken)) throw error;
    }
  }
}

/** Changes a tenant, which keeps its shards whatever its new plan and flags are; 404 where there is none. */
export async function changeTenant(
  control: ControlStore,
  id: number,
  change: (tenant: TenantRecord) => Partial<TenantRecord>,
): Promise<TenantRecord> {
  return control.write(
    tenantKey(id),
    () => control.tenant(id),
    (current) => {
      if (current === undefined) throw notFound(`There is no tenant ${String(id)}.`);
      refuseDeleted(control, id);
      return keepShards(current, { ...current, ...change(current) });
    },
  );
}

/** Entries that come later must find those before them in the same order of a partition: the number of shards never falls. */
function keepShards(current: TenantRecord, next: TenantRecord): TenantRecord {
  const { shards } = effectivePlan(current);
  return effectivePlan(next).shards >= shards ? next : { ...next, flags: { ...next.flags, shards } };
}

export const setDisabled = (control: ControlStore, id: number, disabled: boolean): Promise<TenantRecord> =>
  changeTenant(control, id, () => ({ disabled }));

/** A payment method was added: a trial becomes a paid plan, any other plan stays. */
export const addPayment = (control: ControlStore, id: number): Promise<TenantRecord> =>
  changeTenant(control, id, ({ plan }) => ({ payment: true, plan: findPlan(plan)?.paid === true ? plan : FIRST_PAID_PLAN }));

/** Puts a tenant on a plan. A trial begins again where the plan was another. */
export async function setPlan(control: ControlStore, id: number, plan: string): Promise<TenantRecord> {
  const own = planName(plan);
  return changeTenant(control, id, (tenant) => ({
    plan: own,
    ...(own === 'trial' && tenant.plan !== 'trial' ? { signupAt: new Date().toISOString() } : {}),
  }));
}

/** Sets a flag from a string; `default` removes it. 400 for fewer shards than the tenant has. */
export const setFlag = (control: ControlStore, id: number, flag: string, text: string): Promise<TenantRecord> =>
  changeTenant(control, id, (tenant) => {
    const { plan } = tenant;
    const value = parseFlag(flag, text, plan);
    const others = Object.fromEntries(Object.entries(tenant.flags).filter(([name]) => name !== flag));
    const flags = value === null ? others : { ...others, [flag]: value };
    const { shards } = effectivePlan(tenant);
    if (flag === 'shards' && (Number(value ?? shards) < shards || effectivePlan({ plan, flags }).shards < shards))
      throw invalidParameter(`The tenant has ${String(shards)} shards; their number only grows.`);
    return { flags };
  });

/** Thrown inside a write when the tenant has as many shards by now. */
class Grown extends Error {}

/** Raises a tenant to this number of shards; null, and unchanged, where it has them already. Safe from several nodes at once. */
export async function raiseShards(control: ControlStore, id: number, shards: number): Promise<TenantRecord | null> {
  try {
    return await changeTenant(control, id, (tenant) => {
      if (effectivePlan(tenant).shards >= shards) throw new Grown();
      return { flags: { ...tenant.flags, shards } };
    });
  } catch (error) {
    if (error instanceof Grown) return null;
    throw error;
  }
}

/**
 * Issues a key of a tenant; 404 where there is none, 403 where its plan allows no more keys. Of several nodes that issue the last one at once,
 * the first on the topic has it; the others revoke theirs before anyone has seen it.
 */
export async function createKey(
  control: ControlStore,
  tenantId: number,
  scopes: readonly Scope[],
  expiresAt: string | null,
  more: { readonly name?: string; readonly projectId?: string } = {},
): Promise<IssuedKey> {
  const secret = newSecret();
  refuseDeleted(control, tenantId);
  for (;;) {
    const refused = keyRefusal(control, requireTenant(control, tenantId), 1);
    if (refused !== null) throw refused;
    const late: HttpError[] = [];
    const onCounted = (): void => {
      late.push(...[keyRefusal(control, requireTenant(control, tenantId), 0)].filter((error) => error !== null));
    };
    try {
      const record = await putKey(control, newKeyId(control, tenantId), tenantId, { secret, scopes, expiresAt, more }, onCounted);
      const [over] = late;
      if (over === undefined) return { record, secret };
      await revokeKey(control, tenantId, record.id);
      throw over;
    } catch (error) {
      if (!(error instanceof Taken)) throw error;
    }
  }
}

/** A new id; where many keys were revoked, that of the one that was revoked first, so that the records of a tenant are bounded. */
function newKeyId(control: ControlStore, tenantId: number): string {
  const revoked = control.revokedKeysOf(tenantId);
  const [oldest] = revoked;
  return oldest !== undefined && revoked.length >= MAX_REVOKED_KEYS ? oldest.id : randomBytes(8).toString('hex');
}

/** Why a tenant may not have so many keys more than there are; null where it may. Keys that have expired do not count. */
function keyRefusal(control: ControlStore, tenant: TenantRecord, more: number): HttpError | null {
  const { name, ceilings } = effectivePlan(tenant);
  const now = Date.now();
  const used = control.keysOf(tenant.id).filter(({ expiresAt }) => expiresAt === null || Date.parse(expiresAt) > now).length + more;
  if (used > MAX_KEYS)
    return new HttpError(409, 'conflict', `There are ${String(MAX_KEYS)} API keys already, which is the most; revoke one.`);
  if (used > ceilings.keys)
    return forbidden(`The plan ${name} allows ${String(ceilings.keys)} API keys; revoke one, or add a payment method.`);
  return null;
}

/** Gives a key a new secret; the old one is refused from now on. */
export async function rotateKey(control: ControlStore, tenantId: number, id: string): Promise<IssuedKey> {
  const secret = newSecret();
  return { record: await changeKey(control, tenantId, id, () => ({ hash: control.hash(secret) })), secret };
}

/** Revokes a key. */
export const revokeKey = (control: ControlStore, tenantId: number, id: string): Promise<KeyRecord> =>
  changeKey(control, tenantId, id, () => ({ revokedAt: new Date().toISOString() }));

/** The tenant, or 404. */
export function requireTenant(control: ControlStore, id: number): TenantRecord {
  const tenant = control.tenant(id);
  if (tenant === undefined) throw notFound(`There is no tenant ${String(id)}.`);
  return tenant;
}

/** Makes a change, and writes down that it was made. */
export type AroundChange = (
  change: { readonly action: string; readonly tenant: number; readonly key?: string },
  make: () => Promise<TenantRecord | KeyRecord>,
) => Promise<unknown>;

/**
 * Makes sure that tenant 1 exists, on the plan `unlimited`, and, where a key is given, that it is tenant 1's bootstrap key with all
 * scopes; a former value of it is refused from then on. Safe to repeat, and from several nodes at once. Throws HttpError 409 where another
 * key has this value.
 */
export async function bootstrapTenant(
  control: ControlStore,
  secret: string,
  around: AroundChange = (_change, make) => make(),
): Promise<void> {
  await control.whenReady();
  const tenant = BOOTSTRAP_TENANT;
  if (control.tenant(tenant) === undefined) {
    await around({ action: 'tenant create', tenant }, () =>
      control.write(
        tenantKey(tenant),
        () => control.tenant(tenant),
        (current) => current ?? newTenant(tenant, 'default', 'unlimited'),
      ),
    );
  }
  const known = control.key(BOOTSTRAP_KEY_ID);
  if (secret === '' || (known !== undefined && known.hash === control.hash(secret) && known.revokedAt === null)) return;
  await around({ action: known === undefined ? 'key create' : 'key rotate', tenant, key: BOOTSTRAP_KEY_ID }, () =>
    putKey(control, BOOTSTRAP_KEY_ID, tenant, { secret, scopes: ALL_SCOPES, expiresAt: null }),
  );
}

type KeyOptions = {
  readonly secret: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: string | null;
  /** Of a new key, whose record may be that of one that was revoked; absent: one that is known keeps what else it has. */
  readonly more?: { readonly name?: string; readonly projectId?: string };
};

function putKey(
  control: ControlStore,
  id: string,
  tenantId: number,
  { secret, scopes, expiresAt, more }: KeyOptions,
  onCounted?: () => void,
): Promise<KeyRecord> {
  const record = { id, tenantId, hash: control.hash(secret), scopes, createdAt: new Date().toISOString(), expiresAt, revokedAt: null };
  return control.write(
    keyKey(id),
    () => control.key(id),
    (current) => {
      if ((control.holderOf(record.hash)?.id ?? id) !== id)
        throw new HttpError(409, 'conflict', `The secret of the key ${JSON.stringify(id)} is that of another key; choose another one.`);
      if (more === undefined) return { ...current, ...record };
      if (current !== undefined && (current.revokedAt === null || current.tenantId !== tenantId)) throw new Taken();
      return { ...record, ...more };
    },
    onCounted,
  );
}

function changeKey(control: ControlStore, tenantId: number, id: string, change: () => Partial<KeyRecord>): Promise<KeyRecord> {
  return control.write(
    keyKey(id),
    () => control.key(id),
    (current) => {
      if (current === undefined || current.tenantId !== tenantId || current.revokedAt !== null) {
        throw new HttpError(404, 'not_found', `Tenant ${String(tenantId)} has no key ${JSON.stringify(id)}.`);
      }
      return { ...current, ...change() };
    },
  );
}

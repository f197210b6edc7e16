import { randomBytes } from 'node:crypto';
import { HttpError, forbidden, notFound } from '../../pipeline/core/errors.ts';
import { requireTenant } from './accounts.ts';
import { MAX_CODES } from './bounds.ts';
import type { ControlStore } from './control-store.ts';
import type { KeyRecord, SignInCodeRecord } from './records.ts';
import { changeIn, createIn } from './slots.ts';

/** How long a code can be used. Milliseconds. */
const CODE_MS = 300_000;

/** A code as it is shown once. */
export type SignInCode = { readonly code: string; readonly record: SignInCodeRecord };

/** Makes a code that signs a browser in with a key, once; without a key, with the oldest of the tenant that may read. */
export async function createCode(control: ControlStore, tenantId: number, keyId?: string, now = Date.now()): Promise<SignInCode> {
  requireTenant(control, tenantId);
  const key = keyFor(control, tenantId, keyId, now);
  const code = `lc_${String(tenantId)}_${randomBytes(24).toString('base64url')}`;
  const isUsable = ({ isDeleted, expiresAt }: SignInCodeRecord): boolean => !isDeleted && Date.parse(expiresAt) > now;
  const fields = {
    id: randomBytes(8).toString('hex'),
    keyId: key.id,
    hash: control.hash(code),
    expiresAt: new Date(now + CODE_MS).toISOString(),
  };
  const record = await createIn<SignInCodeRecord>(
    control,
    'code',
    tenantId,
    fields,
    () =>
      [...control.slots('code', tenantId).values()].filter((one) => isUsable(one as SignInCodeRecord)).length < MAX_CODES
        ? null
        : new HttpError(409, 'conflict', `There are ${String(MAX_CODES)} sign-in codes already; use one, or wait until one expires.`),
    (one) => !isUsable(one),
  );
  return { code, record };
}

function keyFor(control: ControlStore, tenantId: number, keyId: string | undefined, now: number): KeyRecord {
  const usable = control.keysOf(tenantId).filter(({ expiresAt }) => expiresAt === null || Date.parse(expiresAt) > now);
  const found = usable.find(({ id, scopes }) => (keyId === undefined ? scopes.includes('read') : id === keyId));
  if (found === undefined)
    throw notFound(
      `Tenant ${String(tenantId)} has no ${keyId === undefined ? 'key with the scope read' : `key ${JSON.stringify(keyId)}`}.`,
    );
  return found;
}

/** Uses a code up, on every node: of two that send it at once, one gets the key. Throws HttpError 403. */
export async function useCode(control: ControlStore, code: string, now = Date.now()): Promise<KeyRecord> {
  const refused = forbidden('The sign-in code is not known, was used, or has expired.');
  const found = codeOf(control, code);
  if (found === undefined || Date.parse(found.expiresAt) <= now) throw refused;
  try {
    await changeIn<SignInCodeRecord>(control, 'code', found, () => ({ isDeleted: true }), 'used');
  } catch (error) {
    throw error instanceof HttpError && error.status === 404 ? refused : error;
  }
  const key = control.key(found.keyId);
  if (key === undefined) throw refused;
  return key;
}

function codeOf(control: ControlStore, code: string): SignInCodeRecord | undefined {
  const tenant = /^lc_([1-9]\d{0,14})_[A-Za-z0-9_-]{32}$/.exec(code)?.[1];
  if (tenant === undefined) return undefined;
  const hash = control.hash(code);
  const all = [...control.slots('code', Number(tenant)).values()] as SignInCodeRecord[];
  return all.find((record) => record.hash === hash && !record.isDeleted);
}

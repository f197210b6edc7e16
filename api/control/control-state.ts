import type { CompactedRecord } from '../../pipeline/core/compacted-log.ts';
import type { KnownKey } from '../auth/authenticate.ts';
import { effectivePlan } from './flags.ts';
import {
  kindOf,
  parseControl,
  settingKey,
  webhookKey,
  type ControlValue,
  type KeyRecord,
  type SettingRecord,
  type TenantRecord,
  type WebhookRecord,
} from './records.ts';

/** The state of the control topic, folded. Equal records in equal order give equal states, on every node. */
export type ControlState = {
  readonly tenants: Map<number, TenantRecord>;
  readonly keys: Map<string, KeyRecord>;
  /** The settings of processors, by the key of their records. */
  readonly settings: Map<string, SettingRecord>;
  /** The webhooks that tenants receive alerts by, by the key of their records. */
  readonly webhooks: Map<string, WebhookRecord>;
  /** Ids of a tenant's keys. */
  readonly keysOfTenant: Map<number, Set<string>>;
  /** Ids of the keys with a hash: one, unless two were given the same secret. */
  readonly idsOfHash: Map<string, readonly string[]>;
  /** What the keys that can be used stand for, by the hash of their secret. */
  readonly known: Map<string, KnownKey>;
  /** Record keys whose last record on the topic lost against an earlier one. */
  readonly stale: Set<string>;
  /** Records that could not be read. */
  unreadable: number;
};

export function emptyControlState(): ControlState {
  return {
    tenants: new Map(),
    keys: new Map(),
    settings: new Map(),
    webhooks: new Map(),
    keysOfTenant: new Map(),
    idsOfHash: new Map(),
    known: new Map(),
    stale: new Set(),
    unreadable: 0,
  };
}

/**
 * Takes one record into the state and gives it back when it counts. Of several records with the same version of the same subject
 * the first counts: that settles races between nodes. A later one of that version, or of an older one, makes the subject `stale`,
 * since compaction would keep just that wrong record: a node that sees it appends the right one again.
 */
export function fold(state: ControlState, { key, value }: Pick<CompactedRecord, 'key' | 'value'>): ControlValue | null {
  const parsed = parseControl(key, value);
  if (parsed === null) {
    if (value !== null && kindOf(key) !== null) state.unreadable += 1;
    return null;
  }
  const current = currentOf(state, parsed);
  if (current !== undefined && current.write === parsed.record.write) {
    state.stale.delete(key);
    return parsed;
  }
  if (current !== undefined && parsed.record.version <= current.version) {
    state.stale.add(key);
    return null;
  }
  state.stale.delete(key);
  if (parsed.kind === 'tenant') foldTenant(state, parsed.record);
  else if (parsed.kind === 'key') foldKey(state, parsed.record);
  else if (parsed.kind === 'setting') state.settings.set(key, parsed.record);
  else state.webhooks.set(key, parsed.record);
  return parsed;
}

function currentOf(
  { tenants, keys, settings, webhooks }: ControlState,
  { kind, record }: ControlValue,
): ControlValue['record'] | undefined {
  switch (kind) {
    case 'tenant':
      return tenants.get(record.id);
    case 'key':
      return keys.get(record.id);
    case 'setting':
      return settings.get(settingKey(record));
    case 'webhook':
      return webhooks.get(webhookKey(record));
  }
}

function foldTenant(state: ControlState, tenant: TenantRecord): void {
  state.tenants.set(tenant.id, tenant);
  for (const id of state.keysOfTenant.get(tenant.id) ?? []) publish(state, state.keys.get(id)?.hash);
}

function foldKey(state: ControlState, key: KeyRecord): void {
  const before = state.keys.get(key.id);
  if (before !== undefined) {
    const others = (state.idsOfHash.get(before.hash) ?? []).filter((id) => id !== key.id);
    if (others.length > 0) state.idsOfHash.set(before.hash, others);
    else state.idsOfHash.delete(before.hash);
  }
  state.keys.set(key.id, key);
  state.idsOfHash.set(key.hash, [...(state.idsOfHash.get(key.hash) ?? []), key.id]);
  const ids = state.keysOfTenant.get(key.tenantId) ?? new Set<string>();
  state.keysOfTenant.set(key.tenantId, ids.add(key.id));
  if (before !== undefined && before.hash !== key.hash) publish(state, before.hash);
  publish(state, key.hash);
}

/**
 * The key that a hash belongs to: of several the oldest, revoked or not. It depends on the last record of each key alone, so compaction,
 * which changes their order, changes nothing here.
 */
export function holderOf({ keys, idsOfHash }: Pick<ControlState, 'keys' | 'idsOfHash'>, hash: string): KeyRecord | undefined {
  let holder: KeyRecord | undefined;
  for (const id of idsOfHash.get(hash) ?? []) {
    const key = keys.get(id);
    if (key !== undefined && (holder === undefined || isOlder(key, holder))) holder = key;
  }
  return holder;
}

function isOlder(one: KeyRecord, other: KeyRecord): boolean {
  const [a, b] = [Date.parse(one.createdAt), Date.parse(other.createdAt)];
  return a === b ? one.id < other.id : a < b;
}

/** Puts what a hash stands for where look-ups find it; a key may come before its tenant. */
function publish(state: ControlState, hash: string | undefined): void {
  if (hash === undefined) return;
  const key = holderOf(state, hash);
  const tenant = key === undefined ? undefined : state.tenants.get(key.tenantId);
  if (key === undefined || tenant === undefined || key.revokedAt !== null) {
    state.known.delete(hash);
    return;
  }
  state.known.set(hash, {
    principal: {
      tenantId: tenant.id,
      keyId: key.id,
      scopes: new Set(key.scopes),
      plan: effectivePlan(tenant),
      demo: tenant.flags['demo'] === true,
    },
    expiresAt: key.expiresAt === null ? null : Date.parse(key.expiresAt),
    tenantDisabled: tenant.disabled,
  });
}

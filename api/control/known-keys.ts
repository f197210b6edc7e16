import { effectivePlan } from './flags.ts';
import type { EndedSessionsRecord, KeyRecord, ProjectRecord } from './records.ts';
import { placeOf, type ControlState } from './state.ts';

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

/** Puts what a hash stands for where look-ups find it; a key may come before its tenant, and before its project. */
export function publish(state: ControlState, hash: string | undefined): void {
  if (hash === undefined) return;
  const key = holderOf(state, hash);
  const tenant = key === undefined ? undefined : state.tenants.get(key.tenantId);
  const project = key?.projectId === undefined ? undefined : projectOf(state, key.tenantId, key.projectId);
  if (key === undefined || tenant === undefined || key.revokedAt !== null || (key.projectId !== undefined && project === undefined)) {
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
      ...(project === undefined ? {} : { project: { id: project.id, name: project.name, filter: project.filter, labels: project.labels } }),
    },
    expiresAt: key.expiresAt === null ? null : Date.parse(key.expiresAt),
    tenantDisabled: tenant.disabled,
  });
}

/** Looks again at what all keys of a tenant stand for. */
export function publishTenant(state: ControlState, tenantId: number): void {
  for (const id of state.keysOfTenant.get(tenantId) ?? []) publish(state, state.keys.get(id)?.hash);
}

function projectOf(state: ControlState, tenantId: number, id: string): ProjectRecord | undefined {
  for (const record of state.slots.get(placeOf('project', tenantId))?.values() ?? [])
    if (record.id === id && !record.isDeleted) return record as ProjectRecord;
  return undefined;
}

/** Whether a session has signed out. */
export const isEnded = (record: EndedSessionsRecord | undefined, id: string, startedAt: number): boolean =>
  record !== undefined &&
  ((record.before !== null && startedAt <= Date.parse(record.before)) || record.sessions.some((session) => session.id === id));

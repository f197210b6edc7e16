/** A tenant that is deleted: its keys end at once, what it has written down is emptied, and its rows are deleted (api/admin/tenant-erasure.ts). */
import { isDeepStrictEqual } from 'node:util';
import { HttpError, invalidParameter, notFound } from '../../pipeline/core/errors.ts';
import type { ControlStore } from './control-store.ts';
import { deletionKey, type ControlRecord, type DeletionRecord } from './records.ts';

/** The tenant that each start makes again, with the bootstrap key. */
const BOOTSTRAP_TENANT = 1;

/** That a tenant is deleted; undefined where it is not. */
export const deletionOf = (control: Pick<ControlStore, 'record'>, tenantId: number): DeletionRecord | undefined =>
  control.record(deletionKey(tenantId)) as DeletionRecord | undefined;

/** Every deletion. */
export function deletions(control: Pick<ControlStore, 'tenants' | 'record'>): DeletionRecord[] {
  return control.tenants().flatMap(({ id }) => deletionOf(control, id) ?? []);
}

/** Throws HttpError 409 for a tenant that is deleted. */
export function refuseDeleted(control: Pick<ControlStore, 'record'>, tenantId: number): void {
  const deletion = deletionOf(control, tenantId);
  if (deletion === undefined) return;
  throw new HttpError(409, 'conflict', `Tenant ${String(tenantId)} was deleted at ${deletion.requestedAt}; that cannot be undone.`);
}

/**
 * Deletes a tenant whose name is repeated, so that no wrong number deletes another one. When it resolves all of its keys are refused and its records are
 * empty; rows follow. Safe to repeat. Throws HttpError 400 for another name, 404, 409 for the tenant of the bootstrap key.
 */
export async function deleteTenant(control: ControlStore, tenantId: number, name: string): Promise<DeletionRecord> {
  const tenant = control.tenant(tenantId);
  if (tenant === undefined) throw notFound(`There is no tenant ${String(tenantId)}.`);
  const known = deletionOf(control, tenantId);
  if (known === undefined) {
    if (tenantId === BOOTSTRAP_TENANT)
      throw new HttpError(409, 'conflict', 'Tenant 1 is that of the bootstrap key, which each start makes again; it cannot be deleted.');
    if (name !== tenant.name) throw invalidParameter(`The name of tenant ${String(tenantId)} is another one; nothing was deleted.`);
  }
  await changeDeletion(control, tenantId, (current) => current);
  await emptyRecords(control, new Set([tenantId]));
  return deletionOf(control, tenantId) as DeletionRecord;
}

/** Changes what is known of a deletion, or begins it. */
export function changeDeletion(
  control: ControlStore,
  tenantId: number,
  change: (current: Omit<DeletionRecord, 'version' | 'write'>) => Omit<DeletionRecord, 'version' | 'write'>,
): Promise<DeletionRecord> {
  const key = deletionKey(tenantId);
  const begun = { tenantId, requestedAt: new Date().toISOString(), records: {}, rows: {}, checkedAt: null, heldBy: null };
  return control.write<DeletionRecord>(
    key,
    () => control.record(key) as DeletionRecord | undefined,
    (current) => change(current ?? begun),
  );
}

/** The same counts with more of some. */
export function added(counts: Readonly<Record<string, number>>, more: Readonly<Record<string, number>>): Record<string, number> {
  const sum: Record<string, number> = { ...counts };
  for (const [name, count] of Object.entries(more)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

/** Empties the records of tenants that are not empty yet: also those that a request which was under way has written late. */
export async function emptyRecords(control: ControlStore, tenants: ReadonlySet<number>): Promise<void> {
  const found = [...control.allRecords()].filter(({ tenantId }) => tenantId !== null && tenants.has(tenantId));
  const emptied = new Map<number, Record<string, number>>();
  for (const { key, kind, record, tenantId } of found) {
    if (tenantId === null || isDeepStrictEqual(kind.emptied(record), record)) continue;
    await control.write<ControlRecord>(
      key,
      () => control.record(key),
      (current) => kind.emptied(current ?? record),
    );
    emptied.set(tenantId, added(emptied.get(tenantId) ?? {}, { [kind.name]: 1 }));
  }
  for (const [tenantId, records] of emptied)
    await changeDeletion(control, tenantId, (current) => ({ ...current, records: added(current.records, records) }));
}

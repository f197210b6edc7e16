import { randomBytes } from 'node:crypto';
import { forbidden, HttpError, notFound } from '../../pipeline/core/errors.ts';
import type { Principal } from '../tenants/principal.ts';
import { MAX_SAVED_CHARACTERS, MAX_SAVED_SEARCHES } from './bounds.ts';
import type { ControlStore } from './control-store.ts';
import type { SavedSearchRecord } from './records.ts';
import { changeIn, createIn, liveIn } from './slots.ts';

const MISSING = 'There is no such saved search.';

/** What a client sets of a saved search. */
export type SavedSearchFields = Pick<SavedSearchRecord, 'name' | 'query' | 'start' | 'end' | 'columns' | 'isShared'>;

/** Whether a key sees a saved search: its own ones, and those that are shared in its project. */
const isSeen = (record: SavedSearchRecord, { keyId, project }: Principal): boolean =>
  record.owner === keyId || (record.isShared && record.projectId === (project?.id ?? null));

/** What a key sees of its tenant's saved searches, oldest first. */
export const savedSearchesOf = (control: Pick<ControlStore, 'slots'>, principal: Principal): SavedSearchRecord[] =>
  liveIn<SavedSearchRecord>(control, 'search', principal.tenantId).filter((record) => isSeen(record, principal));

/** How many a tenant has, of all its keys. */
export const savedCountOf = (control: Pick<ControlStore, 'slots'>, tenantId: number): number =>
  liveIn<SavedSearchRecord>(control, 'search', tenantId).length;

/** Throws HttpError 404 where the key sees none of this id. */
export function requireSavedSearch(control: Pick<ControlStore, 'slots'>, principal: Principal, id: string): SavedSearchRecord {
  const found = savedSearchesOf(control, principal).find((record) => record.id === id);
  if (found === undefined) throw notFound(MISSING);
  return found;
}

/** Saves a search. Throws HttpError 403 where the tenant has as many as it may. */
export function createSavedSearch(control: ControlStore, principal: Principal, fields: SavedSearchFields): Promise<SavedSearchRecord> {
  const { tenantId, keyId, project, plan } = principal;
  const most = Math.min(plan.ceilings.savedSearches, MAX_SAVED_SEARCHES);
  const refusal = (): HttpError | null => {
    const own = liveIn<SavedSearchRecord>(control, 'search', tenantId);
    if (own.length >= most)
      return forbidden(
        `The plan ${plan.name} allows ${String(most)} saved searches; delete one${plan.paid ? '' : ', or add a payment method'}.`,
      );
    return tooLong(own, fields);
  };
  return createIn<SavedSearchRecord>(
    control,
    'search',
    tenantId,
    {
      ...fields,
      id: `ss_${randomBytes(9).toString('base64url')}`,
      owner: keyId,
      projectId: project?.id ?? null,
      updatedAt: new Date().toISOString(),
    },
    refusal,
  );
}

/** What the saved searches of a tenant hold in each process is bounded. */
function tooLong(others: readonly SavedSearchRecord[], fields: SavedSearchFields): HttpError | null {
  const length = [...others, fields].reduce(
    (sum, { name, query, columns }) => sum + name.length + query.length + columns.join('').length,
    0,
  );
  return length <= MAX_SAVED_CHARACTERS
    ? null
    : new HttpError(409, 'conflict', `All saved searches together have at most ${String(MAX_SAVED_CHARACTERS)} characters; delete one.`);
}

/** Changes or deletes a saved search. Throws HttpError 404, and 403 where another key has saved it. */
export function changeSavedSearch(
  control: ControlStore,
  principal: Principal,
  id: string,
  change: SavedSearchFields | { readonly isDeleted: true },
): Promise<SavedSearchRecord> {
  const found = requireSavedSearch(control, principal, id);
  if (found.owner !== principal.keyId && control.key(found.owner)?.revokedAt === null)
    throw forbidden('Another key has saved this search; only that key changes it, as long as it is not revoked.');
  const isDeletion = 'isDeleted' in change;
  const others = liveIn<SavedSearchRecord>(control, 'search', principal.tenantId).filter((record) => record.id !== id);
  const refused = isDeletion ? null : tooLong(others, change);
  if (refused !== null) throw refused;
  // what is deleted is kept as small as it can be
  const next = isDeletion ? { ...change, name: '', query: '', columns: [] } : change;
  return changeIn<SavedSearchRecord>(control, 'search', found, () => ({ ...next, updatedAt: new Date().toISOString() }), MISSING);
}

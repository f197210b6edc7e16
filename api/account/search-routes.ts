import { LogsqlSyntaxError } from '../../logsql/base/errors.ts';
import { parseQuery } from '../../logsql/parser/parser.ts';
import { invalidBody } from '../../pipeline/core/errors.ts';
import type { SavedSearchRecord } from '../control/records.ts';
import {
  changeSavedSearch,
  createSavedSearch,
  requireSavedSearch,
  savedSearchesOf,
  type SavedSearchFields,
} from '../control/saved-searches.ts';
import { checkedBody } from '../http/checked-body.ts';
import { pageOf } from '../http/lists.ts';
import type { Route, RouteContext } from '../http/route.ts';
import type { Principal } from '../tenants/principal.ts';
import * as described from './described-searches.ts';
import type { AccountRoutesOptions } from './key-routes.ts';

const BASE = '/api/v1/tenants/{tenant_id}/saved-searches';
const ONE = `${BASE}/{search_id}`;
const NANOSECONDS = 1_000_000n;

/** Searches that keys have saved. A change is answered after every process of this instance has it. */
export function createSavedSearchRoutes({ control, settled }: AccountRoutesOptions): readonly Route[] {
  const idOf = ({ params }: RouteContext): string => params['search_id'] ?? '';
  return [
    {
      ...{ method: 'GET', path: BASE, scope: 'read', operation: described.SEARCHES, isNarrowed: true },
      handle: ({ principal, query }) => {
        const all = savedSearchesOf(control, principal).map((record) => shown(record, principal));
        return Promise.resolve({ status: 200, body: pageOf(all, described.SEARCH_LIST, query) });
      },
    },
    {
      ...{ method: 'POST', path: BASE, scope: 'write', operation: described.SAVE_SEARCH, isNarrowed: true },
      handle: async (context) => {
        const record = await createSavedSearch(control, context.principal, fieldsOf(await context.body()));
        await settled();
        return { status: 201, body: shown(record, context.principal) };
      },
    },
    {
      ...{ method: 'GET', path: ONE, scope: 'read', operation: described.ONE_SEARCH, isNarrowed: true },
      handle: (context) =>
        Promise.resolve().then(() => ({
          status: 200,
          body: shown(requireSavedSearch(control, context.principal, idOf(context)), context.principal),
        })),
    },
    {
      ...{ method: 'PUT', path: ONE, scope: 'write', operation: described.CHANGE_SEARCH, isNarrowed: true },
      handle: async (context) => {
        const record = await changeSavedSearch(control, context.principal, idOf(context), fieldsOf(await context.body()));
        await settled();
        return { status: 200, body: shown(record, context.principal) };
      },
    },
    {
      ...{ method: 'DELETE', path: ONE, scope: 'write', operation: described.DELETE_SEARCH, isNarrowed: true },
      handle: async (context) => {
        await changeSavedSearch(control, context.principal, idOf(context), { isDeleted: true });
        await settled();
        return { status: 204 };
      },
    },
  ];
}

function fieldsOf(body: unknown): SavedSearchFields {
  const { shared: isShared, ...fields } = checkedBody(described.SEARCH_BODY, body);
  try {
    parseQuery(fields.query, { now: BigInt(Date.now()) * NANOSECONDS });
  } catch (error) {
    if (error instanceof LogsqlSyntaxError) throw invalidBody(`"query": ${error.message}.`);
    throw error;
  }
  return { ...fields, isShared };
}

const shown = (record: SavedSearchRecord, { keyId }: Principal): object => ({
  ...{ id: record.id, name: record.name, query: record.query, start: record.start, end: record.end, columns: record.columns },
  ...{ shared: record.isShared, owner: record.owner, is_own: record.owner === keyId },
  ...{ created_at: record.createdAt, updated_at: record.updatedAt },
});

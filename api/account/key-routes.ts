import { forbidden, invalidBody, notFound } from '../../pipeline/core/errors.ts';
import { createKey, revokeKey } from '../control/accounts.ts';
import type { ControlStore } from '../control/control-store.ts';
import { requireProject } from '../control/projects.ts';
import type { KeyRecord } from '../control/records.ts';
import { checkedBody } from '../http/checked-body.ts';
import { pageOf } from '../http/lists.ts';
import type { Route, RouteAnswer, RouteContext } from '../http/route.ts';
import type { Principal } from '../tenants/principal.ts';
import * as described from './described-keys.ts';

const BASE = '/api/v1/tenants/{tenant_id}/keys';

export type AccountRoutesOptions = {
  readonly control: ControlStore;
  /** Resolves when every process of this instance has read the control topic as far as this one. */
  readonly settled: () => Promise<unknown>;
};

/** The keys of a tenant, for its own keys. A change is answered after every process of this instance has it. */
export function createKeyRoutes({ control, settled }: AccountRoutesOptions): readonly Route[] {
  return [
    {
      ...{ method: 'GET', path: BASE, scope: 'write', operation: described.KEYS, isNarrowed: true },
      handle: ({ principal, query }) => {
        const all = keysOf(control, principal).map((key) => shown(control, key, principal));
        return Promise.resolve({ status: 200, body: pageOf(all, described.KEY_LIST, query) });
      },
    },
    {
      ...{ method: 'POST', path: BASE, scope: 'write', operation: described.CREATE_KEY, isNarrowed: true },
      handle: async (context) => {
        const answer = await create(control, context);
        await settled();
        return answer;
      },
    },
    {
      ...{ method: 'DELETE', path: `${BASE}/{key_id}`, scope: 'write', operation: described.REVOKE_KEY, isNarrowed: true },
      handle: async ({ principal, params }) => {
        const key = keysOf(control, principal).find(({ id }) => id === params['key_id']);
        if (key === undefined) throw notFound('There is no such key.');
        requireOwnScopes(control, principal, key.scopes, 'revoke a key with');
        await revokeKey(control, principal.tenantId, key.id);
        await settled();
        return { status: 204 };
      },
    },
  ];
}

/** What a key sees: all keys of its tenant, or of its project. */
const keysOf = (control: ControlStore, { tenantId, project }: Principal): KeyRecord[] =>
  control.keysOf(tenantId).filter(({ projectId }) => project === undefined || projectId === project.id);

/** A browser session may grant what its key may, also what the session itself never does. */
function requireOwnScopes(control: ControlStore, { keyId }: Principal, scopes: KeyRecord['scopes'], what: string): void {
  const own = control.key(keyId)?.scopes ?? [];
  const lacking = scopes.filter((scope) => !own.includes(scope));
  if (lacking.length > 0)
    throw forbidden(`The API key lacks the scope \`${lacking.join('`, `')}\`, so it cannot ${what} ${lacking.length > 1 ? 'them' : 'it'}.`);
}

async function create(control: ControlStore, context: RouteContext): Promise<RouteAnswer> {
  const { principal } = context;
  const { tenantId, project, keyId } = principal;
  const { name, scopes, expires, project: wanted } = checkedBody(described.KEY_BODY, (await context.body()) ?? {});
  requireOwnScopes(control, principal, scopes, 'grant');
  if (project !== undefined && wanted !== undefined && wanted !== project.id)
    throw forbidden('The API key is narrowed to a project, and cannot grant another one.');
  const projectId = wanted ?? project?.id;
  if (projectId !== undefined) requireProject(control, tenantId, projectId);
  const expiresAt = expiryOf(expires, control.key(keyId)?.expiresAt ?? null);
  const { record, secret } = await createKey(control, tenantId, scopes, expiresAt, {
    ...(name === undefined ? {} : { name }),
    ...(projectId === undefined ? {} : { projectId }),
  });
  return { status: 201, body: { ...shown(control, record, principal), key: secret } };
}

/** When a key expires that one grants which itself expires, or does not. */
function expiryOf(wanted: string | null, own: string | null): string | null {
  if (wanted === null) return own;
  const at = Date.parse(wanted);
  if (!(at > Date.now())) throw invalidBody('"expires" is not in the future.');
  if (own !== null && at > Date.parse(own)) throw forbidden(`The API key expires at ${own}, and cannot grant one that expires later.`);
  return new Date(at).toISOString();
}

function shown(control: ControlStore, key: KeyRecord, { keyId }: Principal): object {
  const lastUse = control.lastUseOf(key.id);
  return {
    ...{ id: key.id, name: key.name ?? null, scopes: key.scopes, project_id: key.projectId ?? null },
    ...{ created_at: key.createdAt, expires_at: key.expiresAt },
    last_used: lastUse === null ? null : new Date(lastUse).toISOString(),
    is_own: key.id === keyId,
  };
}

import Joi from 'joi';
import { MAX_KEYS, MAX_REVOKED_KEYS } from '../bounds.ts';
import { publish } from '../known-keys.ts';
import { keyKey, type KeyRecord } from '../records.ts';
import { recordOf, tenantNumber, time, type RecordKind } from './kind.ts';

export const keyKind: RecordKind<KeyRecord> = {
  name: 'key',
  about: 'An API key: what it may be used for, and the hash of its secret.',
  key: 'key:ID',
  bounds: `As many as the plan allows (\`ceilings.keys\`), ${String(MAX_KEYS)} of a tenant; and ${String(MAX_REVOKED_KEYS)} that are revoked, the oldest of which are used again.`,
  deletion: 'A revoked key is kept as revoked, so that a slower write of another node cannot bring it back.',
  routes: [
    'GET /api/v1/tenants/{tenant_id}/keys',
    'POST /api/v1/tenants/{tenant_id}/keys',
    'DELETE /api/v1/tenants/{tenant_id}/keys/{key_id}',
    'GET /admin/tenants/{tenant}/keys',
    'POST /admin/tenants/{tenant}/keys',
    'POST /admin/tenants/{tenant}/keys/{key}/rotate',
    'DELETE /admin/tenants/{tenant}/keys/{key}',
  ],
  commands: ['keys', 'admin key create', 'admin key list', 'admin key rotate', 'admin key revoke'],
  schema: recordOf({
    id: Joi.string().required(),
    tenantId: tenantNumber,
    hash: Joi.string().hex().length(64).required(),
    scopes: Joi.array()
      .items(Joi.string().valid('read', 'write', 'ingest'))
      .required(),
    createdAt: time.required(),
    expiresAt: time.allow(null).required(),
    revokedAt: time.allow(null).required(),
    name: Joi.string(),
    projectId: Joi.string(),
  }),
  tenantOf: ({ tenantId }) => tenantId,
  emptied: ({ name: _name, ...key }) => ({ ...key, revokedAt: key.revokedAt ?? new Date().toISOString() }),
  keyOf: ({ id }) => keyKey(id),
  index: (state, key, before) => {
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
  },
};

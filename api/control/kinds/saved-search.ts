import Joi from 'joi';
import { slotKey, type SavedSearchRecord } from '../records.ts';
import { MAX_SAVED_SEARCHES } from '../bounds.ts';
import { indexSlot } from '../state.ts';
import { recordOf, slotMembers, time, type RecordKind } from './kind.ts';

export const savedSearchKind: RecordKind<SavedSearchRecord> = {
  name: 'search',
  about: 'A search that a key has saved, for itself or for every key of its tenant.',
  key: 'search:TENANT:SLOT',
  bounds: `${String(MAX_SAVED_SEARCHES)} slots of a tenant, and as many as its plan allows (\`ceilings.saved_searches\`).`,
  deletion: 'Its slot is kept as deleted, and used again.',
  routes: [
    'GET /api/v1/tenants/{tenant_id}/saved-searches',
    'POST /api/v1/tenants/{tenant_id}/saved-searches',
    'GET /api/v1/tenants/{tenant_id}/saved-searches/{search_id}',
    'PUT /api/v1/tenants/{tenant_id}/saved-searches/{search_id}',
    'DELETE /api/v1/tenants/{tenant_id}/saved-searches/{search_id}',
  ],
  commands: ['saved'],
  schema: recordOf({
    ...slotMembers(MAX_SAVED_SEARCHES),
    owner: Joi.string().required(),
    name: Joi.string().allow('').required(),
    query: Joi.string().allow('').required(),
    start: Joi.string().allow(null).required(),
    end: Joi.string().allow(null).required(),
    columns: Joi.array().items(Joi.string()).required(),
    isShared: Joi.boolean().required(),
    projectId: Joi.string().allow(null).required(),
    updatedAt: time.required(),
  }),
  tenantOf: ({ tenantId }) => tenantId,
  emptied: (search) => ({ ...search, isDeleted: true, name: '', query: '', start: null, end: null, columns: [] }),
  keyOf: (record) => slotKey('search', record),
  index: (state, record) => {
    indexSlot(state, 'search', record);
  },
};

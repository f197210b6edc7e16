import Joi from 'joi';
import { deletionKey, type DeletionRecord } from '../records.ts';
import { recordOf, tenantNumber, time, type RecordKind } from './kind.ts';

const counts = Joi.object().pattern(Joi.string(), Joi.number().integer().min(0)).required();

export const deletionKind: RecordKind<DeletionRecord> = {
  name: 'deletion',
  about: 'That a tenant is deleted, and what was found of it and deleted.',
  key: 'deletion:TENANT',
  bounds: 'One for each tenant that was deleted.',
  deletion: 'Never: it is the certificate, and what comes late is deleted by it.',
  routes: ['DELETE /admin/tenants/{tenant}', 'GET /admin/tenants/{tenant}/deletion'],
  commands: ['admin tenant delete', 'admin tenant deletion'],
  schema: recordOf({
    tenantId: tenantNumber,
    requestedAt: time.required(),
    records: counts,
    rows: counts,
    checkedAt: time.allow(null).required(),
    heldBy: Joi.object({ node: Joi.string().required(), until: time.required() }).unknown(true).allow(null).required(),
  }),
  tenantOf: ({ tenantId }) => tenantId,
  emptied: (deletion) => deletion,
  keyOf: ({ tenantId }) => deletionKey(tenantId),
  index: () => undefined,
};

import Joi from 'joi';
import { publishTenant } from '../known-keys.ts';
import { tenantKey, type TenantRecord } from '../records.ts';
import { recordOf, tenantNumber, time, type RecordKind } from './kind.ts';

export const tenantKind: RecordKind<TenantRecord> = {
  name: 'tenant',
  about: 'A tenant: its plan, when it signed up, and its flags.',
  key: 'tenant:ID',
  bounds: 'One for each tenant.',
  deletion: 'The record is kept, without its name and disabled: ids are not used again.',
  routes: [
    'GET /admin/tenants',
    'POST /admin/tenants',
    'PUT /admin/tenants/{tenant}/plan',
    'DELETE /admin/tenants/{tenant}',
    'PUT /admin/tenants/{tenant}/flags/{flag}',
  ],
  commands: ['admin tenant create', 'admin tenant list', 'admin tenant delete', 'admin tenant set-plan', 'admin tenant set-flag'],
  schema: recordOf({
    id: tenantNumber,
    name: Joi.string().allow('').required(),
    plan: Joi.string().required(),
    signupAt: time.required(),
    disabled: Joi.boolean().required(),
    payment: Joi.boolean().required(),
    flags: Joi.object().pattern(Joi.string(), Joi.alternatives(Joi.boolean(), Joi.number())).required(),
  }),
  tenantOf: ({ id }) => id,
  emptied: (tenant) => ({ ...tenant, name: '', disabled: true }),
  keyOf: ({ id }) => tenantKey(id),
  index: (state, tenant) => {
    state.tenants.set(tenant.id, tenant);
    publishTenant(state, tenant.id);
  },
};

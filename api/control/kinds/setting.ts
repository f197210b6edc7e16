import Joi from 'joi';
import { MAX_SETTING_BYTES, SETTING_KEY } from '../../../pipeline/core/setting.ts';
import { settingKey, type SettingRecord } from '../records.ts';
import { recordOf, type RecordKind } from './kind.ts';

export const settingKind: RecordKind<SettingRecord> = {
  name: 'setting',
  about: 'A setting of a processor, for one tenant or (0) for all: of detectors their sensitivity, and each rule of a tenant.',
  key: 'setting:PROCESSOR:TENANT:KEY',
  bounds: 'Of each processor 100 of a tenant, and as many of all as it states.',
  deletion: 'One that was removed is kept, with the value null.',
  routes: [
    'GET /admin/processors/settings',
    'PUT /admin/processors/{processor}/settings/{setting}',
    'GET /api/v1/tenants/{tenant_id}/rules',
    'POST /api/v1/tenants/{tenant_id}/rules',
    'GET /api/v1/tenants/{tenant_id}/metric-rules',
    'GET /api/v1/tenants/{tenant_id}/detectors',
  ],
  commands: ['admin processor set', 'admin processor settings', 'admin rule create', 'admin rule list'],
  schema: recordOf({
    processor: Joi.string().required(),
    tenantId: Joi.number().integer().min(0).required(),
    key: Joi.string().pattern(SETTING_KEY).required(),
    value: Joi.any()
      .required()
      .custom((value: unknown, helpers) =>
        Buffer.byteLength(JSON.stringify(value)) > MAX_SETTING_BYTES ? helpers.error('any.invalid') : value,
      ),
  }),
  tenantOf: ({ tenantId }) => (tenantId === 0 ? null : tenantId),
  emptied: (setting) => ({ ...setting, value: null }),
  keyOf: settingKey,
  index: (state, setting) => {
    state.settings.set(settingKey(setting), setting);
  },
};

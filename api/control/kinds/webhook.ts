import Joi from 'joi';
import { ALERT_SEVERITIES } from '../../../pipeline/alerting/book/alert.ts';
import { WEBHOOK_FORMS } from '../../../pipeline/alerting/announcements/webhook.ts';
import { MAX_WEBHOOKS, webhookKey, type WebhookRecord } from '../records.ts';
import { indexSlot } from '../state.ts';
import { recordOf, slotMembers, type RecordKind } from './kind.ts';

/** Of no one: names under `invalid` are not given to anyone (RFC 2606). */
const DELETED_URL = 'https://deleted.invalid/';

export const webhookKind: RecordKind<WebhookRecord> = {
  name: 'webhook',
  about: 'A URL at which alerts of a tenant are announced.',
  key: 'webhook:TENANT:SLOT',
  bounds: `${String(MAX_WEBHOOKS)} slots of a tenant.`,
  deletion: 'Its slot is kept as deleted, and used again.',
  routes: [
    'GET /api/v1/tenants/{tenant_id}/webhooks',
    'POST /api/v1/tenants/{tenant_id}/webhooks',
    'GET /api/v1/tenants/{tenant_id}/webhooks/{webhook_id}',
    'PUT /api/v1/tenants/{tenant_id}/webhooks/{webhook_id}',
    'DELETE /api/v1/tenants/{tenant_id}/webhooks/{webhook_id}',
  ],
  commands: [],
  schema: recordOf({
    ...slotMembers(MAX_WEBHOOKS),
    url: Joi.string().required(),
    form: Joi.string()
      .valid(...WEBHOOK_FORMS)
      .required(),
    minSeverity: Joi.string()
      .valid(...ALERT_SEVERITIES)
      .required(),
    detectors: Joi.array().items(Joi.string()).required(),
    services: Joi.array().items(Joi.string().allow('')).required(),
    isEnabled: Joi.boolean().required(),
  }),
  tenantOf: ({ tenantId }) => tenantId,
  emptied: (webhook) => ({ ...webhook, isDeleted: true, url: DELETED_URL, detectors: [], services: [] }),
  keyOf: webhookKey,
  index: (state, webhook) => {
    indexSlot(state, 'webhook', webhook);
  },
};

/** The description of the endpoints of webhooks. */
import Joi from 'joi';
import { listParameters, pageAnswer } from '../http/lists.ts';
import { json, jsonBody, list, members, moment, ok, text, whole, type Operation } from '../http/operation.ts';
import { ALERT_SEVERITIES } from '../../pipeline/alerting/book/alert.ts';
import { WEBHOOK_FORMS } from '../../pipeline/alerting/announcements/webhook.ts';
import type { WebhookFields } from '../control/webhooks.ts';

export type WebhookBody = {
  readonly url: string;
  readonly form: WebhookFields['form'];
  readonly min_severity: WebhookFields['minSeverity'];
  readonly detectors: readonly string[];
  readonly services: readonly string[];
  readonly enabled: boolean;
};

/** Names in a list, and their characters. */
const [MAX_NAMES, MAX_NAME] = [20, 200];
const names = Joi.array().items(Joi.string().max(MAX_NAME)).max(MAX_NAMES).default([]);
export const WEBHOOK_BODY = Joi.object<WebhookBody>({
  url: Joi.string().required(),
  form: Joi.string()
    .valid(...WEBHOOK_FORMS)
    .default('json'),
  min_severity: Joi.string()
    .valid(...ALERT_SEVERITIES)
    .default('info'),
  detectors: names,
  services: names,
  enabled: Joi.boolean().strict().default(true),
});

const WEBHOOK = {
  id: text(),
  url: text(),
  form: text('Of its deliveries: `json`, or that of a product.'),
  min_severity: Joi.string().valid('info', 'warning', 'critical'),
  detectors: list(text()).description('Only alerts of these; of all where it is empty.'),
  services: list(text()).description('Only alerts of these; of all where it is empty.'),
  enabled: Joi.boolean(),
  created_at: moment(),
};
const DELIVERY = members(
  {
    ...{ id: text(), webhook_id: text(), type: text(), alert_id: whole(), title: text() },
    state: Joi.string().valid('pending', 'failed'),
    ...{ attempts: whole(), created_at: moment(), status: whole('What was answered last.').allow(null), error: text().allow(null) },
  },
  { failed_at: moment(), next_attempt_at: moment() },
);
const path = Joi.object({ webhook_id: Joi.string() });
const body = jsonBody(WEBHOOK_BODY);
const webhook = members(WEBHOOK);

export const WEBHOOK_LIST = listParameters(['url', 'created_at']);
export const DELIVERY_LIST = listParameters<{ readonly state: 'all' | 'pending' | 'failed' }>(['created_at', 'attempts', 'alert_id'], {
  state: Joi.string().valid('all', 'pending', 'failed').default('all'),
});

export const WEBHOOKS: Operation = {
  ...{
    id: 'listWebhooks',
    tag: 'webhooks',
    summary: 'The webhooks of a tenant, oldest first',
    ...{ query: WEBHOOK_LIST, answers: pageAnswer(webhook) },
  },
};
export const CREATE_WEBHOOK: Operation = {
  ...{ id: 'createWebhook', tag: 'webhooks', summary: 'Announces alerts at a URL', body, errors: [409] },
  answers: { 201: json(members({ ...WEBHOOK, secret: text('Signs its deliveries.') }), 'The webhook, with its secret.') },
};
export const ONE_WEBHOOK: Operation = {
  ...{ id: 'getWebhook', tag: 'webhooks', summary: 'One webhook', path, answers: ok(webhook), errors: [404] },
};
export const CHANGE_WEBHOOK: Operation = {
  ...{ id: 'changeWebhook', tag: 'webhooks', summary: 'Sets all members of a webhook', path, body, answers: ok(webhook), errors: [404] },
};
export const DELETE_WEBHOOK: Operation = {
  ...{ id: 'deleteWebhook', tag: 'webhooks', summary: 'Deletes a webhook', path, errors: [404] },
  answers: { 204: { description: 'Every node has deleted it.' } },
};
export const TEST_WEBHOOK: Operation = {
  ...{ id: 'testWebhook', tag: 'webhooks', summary: 'Sends a test delivery; its outcome', path, errors: [404] },
  answers: ok(members({ delivered: Joi.boolean(), status: whole().allow(null), error: text().allow(null), duration_ms: whole() })),
};
export const DELIVERIES: Operation = {
  ...{ id: 'listDeliveries', tag: 'webhooks', summary: 'Deliveries that wait or have failed' },
  ...{ query: DELIVERY_LIST, answers: pageAnswer(DELIVERY) },
};
export const RETRY: Operation = {
  ...{ id: 'retryDelivery', tag: 'webhooks', summary: 'Sends a failed delivery again' },
  path: Joi.object({ delivery_id: Joi.string() }),
  ...{ answers: { 202: json(DELIVERY, 'It is sent next.') }, errors: [404] },
};

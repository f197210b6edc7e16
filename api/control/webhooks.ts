import { randomBytes } from 'node:crypto';
import { HttpError, notFound } from '../../pipeline/core/errors.ts';
import type { Webhook } from '../../pipeline/alerting/announcements/webhook.ts';
import type { ControlStore } from './control-store.ts';
import { MAX_WEBHOOKS, type WebhookRecord } from './records.ts';
import { changeIn, createIn, liveIn } from './slots.ts';

/** The fields of a webhook that a tenant sets. */
export type WebhookFields = Omit<Webhook, 'id' | 'tenantId'>;

/** The webhooks of a tenant, oldest first; none of a tenant that is disabled. */
export function webhooksOf(control: Pick<ControlStore, 'slots' | 'tenant'>, tenantId: number): WebhookRecord[] {
  if (control.tenant(tenantId)?.disabled !== false) return [];
  return liveIn<WebhookRecord>(control, 'webhook', tenantId);
}

/** Throws HttpError 404 where the tenant has none of this id. */
export function requireWebhook(control: Pick<ControlStore, 'slots' | 'tenant'>, tenantId: number, id: string): WebhookRecord {
  const found = webhooksOf(control, tenantId).find((record) => record.id === id);
  if (found === undefined) throw notFound('There is no such webhook.');
  return found;
}

/** Creates a webhook. Throws HttpError 409 where the tenant has as many as it may. */
export const createWebhook = (control: ControlStore, tenantId: number, fields: WebhookFields): Promise<WebhookRecord> =>
  createIn<WebhookRecord>(control, 'webhook', tenantId, { ...fields, id: `wh_${randomBytes(12).toString('base64url')}` }, () =>
    liveIn(control, 'webhook', tenantId).length < MAX_WEBHOOKS
      ? null
      : new HttpError(409, 'conflict', `There are ${String(MAX_WEBHOOKS)} webhooks already, which is the most.`),
  );

/** Changes a webhook, or deletes it. Throws HttpError 404. */
export const changeWebhook = (
  control: ControlStore,
  { tenantId, id }: Pick<Webhook, 'tenantId' | 'id'>,
  change: WebhookFields | { readonly isDeleted: true },
): Promise<WebhookRecord> =>
  changeIn<WebhookRecord>(control, 'webhook', requireWebhook(control, tenantId, id), () => change, 'There is no such webhook.');

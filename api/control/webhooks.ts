import { randomBytes } from 'node:crypto';
import { HttpError, notFound } from '../../pipeline/core/errors.ts';
import type { Webhook } from '../../pipeline/alerting/announcements/webhook.ts';
import type { ControlStore } from './control-store.ts';
import { MAX_WEBHOOKS, webhookKey, type WebhookRecord } from './records.ts';

/** The fields of a webhook that a tenant sets. */
export type WebhookFields = Omit<Webhook, 'id' | 'tenantId'>;

const slotsOf = (control: Pick<ControlStore, 'webhook'>, tenantId: number): (WebhookRecord | undefined)[] =>
  Array.from({ length: MAX_WEBHOOKS }, (_none, index) => control.webhook(webhookKey({ tenantId, slot: index + 1 })));

/** The webhooks of a tenant, oldest first; none of a tenant that is disabled. */
export function webhooksOf(control: Pick<ControlStore, 'webhook' | 'tenant'>, tenantId: number): WebhookRecord[] {
  if (control.tenant(tenantId)?.disabled !== false) return [];
  const own = slotsOf(control, tenantId).filter((record) => record?.isDeleted === false) as WebhookRecord[];
  return own.sort((a, b) => (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : a.slot - b.slot));
}

/** Throws HttpError 404 where the tenant has none of this id. */
export function requireWebhook(control: Pick<ControlStore, 'webhook' | 'tenant'>, tenantId: number, id: string): WebhookRecord {
  const found = webhooksOf(control, tenantId).find((record) => record.id === id);
  if (found === undefined) throw notFound('There is no such webhook.');
  return found;
}

/** Creates a webhook. Throws HttpError 409 where the tenant has as many as it may. */
export async function createWebhook(control: ControlStore, tenantId: number, fields: WebhookFields): Promise<WebhookRecord> {
  const id = `wh_${randomBytes(12).toString('base64url')}`;
  for (;;) {
    const slot = slotsOf(control, tenantId).findIndex((record) => record?.isDeleted !== false) + 1;
    if (slot === 0) throw new HttpError(409, 'conflict', `There are ${String(MAX_WEBHOOKS)} webhooks already, which is the most.`);
    const made = { ...fields, id, tenantId, slot, createdAt: new Date().toISOString(), isDeleted: false };
    // another one may have taken the slot meanwhile
    const written = await write(control, made, (current) => (current?.isDeleted === false ? current : made));
    if (written.id === id) return written;
  }
}

/** Changes a webhook, or deletes it. Throws HttpError 404. */
export function changeWebhook(
  control: ControlStore,
  { tenantId, id }: Pick<Webhook, 'tenantId' | 'id'>,
  change: WebhookFields | { readonly isDeleted: true },
): Promise<WebhookRecord> {
  return write(control, requireWebhook(control, tenantId, id), (current) => {
    if (current?.id !== id || current.isDeleted) throw notFound('There is no such webhook.');
    return { ...current, ...change };
  });
}

const write = (
  control: ControlStore,
  at: Pick<WebhookRecord, 'tenantId' | 'slot'>,
  change: (current: WebhookRecord | undefined) => Omit<WebhookRecord, 'version' | 'write'>,
): Promise<WebhookRecord> => control.write(webhookKey(at), () => control.webhook(webhookKey(at)), change);

import { shownAlert } from '../../pipeline/alerting/book/shown-alert.ts';
import type { Delivery } from '../../pipeline/alerting/announcements/delivery.ts';
import type { Webhook } from '../../pipeline/alerting/announcements/webhook.ts';
import { alert } from './alerts-record.ts';

/** A webhook of tenant 1 that wants everything. */
export const webhook = (more: Partial<Webhook> = {}): Webhook => ({
  ...{ id: 'wh_a', tenantId: 1, url: 'https://hooks.example/x', form: 'json', minSeverity: 'info', detectors: [], services: [], isEnabled: true },
  ...more,
}); // prettier-ignore

/** A delivery that is due at once. */
export const delivery = (more: Partial<Delivery> = {}): Delivery => ({
  ...{ id: 'dl_a', tenantId: 1, webhookId: 'wh_a', partition: 0, type: 'fired', alert: shownAlert(alert(), null) },
  ...{ madeAt: 0, state: 'pending', attempts: 0, at: 0, status: null, error: null },
  ...more,
});

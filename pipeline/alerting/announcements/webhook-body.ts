import type { ShownAlert } from '../book/shown-alert.ts';
import type { WebhookEvent, WebhookForm } from './webhook.ts';

/** What is sent to a webhook. */
export type Notification = {
  /** The same each time that it is sent. */
  readonly deliveryId: string;
  readonly tenantId: number;
  /** `test` where a user checks that it arrives. */
  readonly type: WebhookEvent | 'test';
  readonly alert: ShownAlert;
};

const HEADLINE: Readonly<Record<Notification['type'], string>> = { fired: 'Fired', resolved: 'Resolved', test: 'Test' };
/** The longest string that Slack accepts in a section, and in a header. Characters. */
const MAX_SECTION = 3000;
const MAX_HEADER = 150;

/** The body of a request, by form. */
export const bodyOf: Readonly<Record<WebhookForm, (notification: Notification) => string>> = {
  json: ({ deliveryId, tenantId, type, alert }) => JSON.stringify({ type, delivery_id: deliveryId, tenant_id: tenantId, alert }),
  slack: ({ tenantId, type, alert }) => {
    const headline = `${HEADLINE[type]}: ${alert.title}`;
    const context = [alert.severity, alert.detector_type, `tenant ${String(tenantId)}`, `alert ${String(alert.id)}`].join(' · ');
    const note = alert.resolution_note === null ? [] : [section(alert.resolution_note)];
    return JSON.stringify({
      text: escaped(headline),
      blocks: [
        { type: 'header', text: { type: 'plain_text', text: headline.slice(0, MAX_HEADER) } },
        section(alert.description),
        ...note,
        { type: 'context', elements: [{ type: 'mrkdwn', text: escaped(context) }] },
      ],
    });
  },
};

const section = (text: string): object => ({ type: 'section', text: { type: 'mrkdwn', text: escaped(text).slice(0, MAX_SECTION) || ' ' } });

/** Slack's three control characters, which would be links and mentions (https://api.slack.com/reference/surfaces/formatting#escaping). */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

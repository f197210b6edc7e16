import { createHmac } from 'node:crypto';
import { isIP } from 'node:net';
import { ALERT_SEVERITIES, PART_ALERT, type AlertRow, type AlertSeverity } from '../book/alert.ts';
import { timeText } from '../book/shown-alert.ts';
import { objectOf } from '../../core/read-json.ts';
import type { Addresses } from './addresses.ts';

export const WEBHOOK_FORMS = ['json', 'slack'] as const;
export type WebhookForm = (typeof WEBHOOK_FORMS)[number];

/** Where a tenant wants its alerts sent, and which of them. */
export type Webhook = {
  readonly id: string;
  readonly tenantId: number;
  readonly url: string;
  readonly form: WebhookForm;
  /** The least severity that is sent. */
  readonly minSeverity: AlertSeverity;
  /** The detectors and services that are sent; empty for all. */
  readonly detectors: readonly string[];
  readonly services: readonly string[];
  readonly isEnabled: boolean;
};

/** What is sent: that an alert fires, or fires again, and that it is resolved. Updates in between are not. */
export type WebhookEvent = 'fired' | 'resolved';

const MAX_URL = 2000;
const PORTS = new Set(['', '80', '443']);
/** Below it there are services that a body of HTTP may confuse. */
const FIRST_FREE_PORT = 1024;

/** The event of a row, if any; the same for the same row, so that reading it again gives the same. */
export function eventOf(row: AlertRow): WebhookEvent | null {
  if (row.part !== PART_ALERT) return null;
  if (row.state === 'resolved') return row.resolvedAt === row.updatedAt ? 'resolved' : null;
  return objectOf(row.evidence)['opened_at'] === timeText(row.updatedAt) ? 'fired' : null;
}

export function wants({ isEnabled, minSeverity, detectors, services }: Webhook, { severity, detector, service }: AlertRow): boolean {
  return (
    isEnabled &&
    ALERT_SEVERITIES.indexOf(severity) >= ALERT_SEVERITIES.indexOf(minSeverity) &&
    (detectors.length === 0 || detectors.includes(detector)) &&
    (services.length === 0 || services.includes(service))
  );
}

/** The secret that bodies for a webhook are signed with: a function of its id, so that it is kept nowhere. Another pepper is another secret. */
export const webhookSecret = (pepper: string, { tenantId, id }: Pick<Webhook, 'tenantId' | 'id'>): string =>
  `whsec_${createHmac('sha256', pepper)
    .update(`webhook:${String(tenantId)}:${id}`)
    .digest('base64url')}`;

/** What is wrong with a URL for a webhook, as a sentence; null for nothing. What its name stands for is looked at when a connection is made. */
export function urlFault(text: string, addresses: Addresses): string | null {
  if (text.length > MAX_URL) return `"url" has more than ${String(MAX_URL)} characters.`;
  if (!URL.canParse(text)) return '"url" must be a URL.';
  const { protocol, username, password, port, hostname } = new URL(text);
  if (protocol !== 'https:' && protocol !== 'http:') return '"url" must begin with https:// or http://.';
  if (username !== '' || password !== '') return '"url" may not have a user or a password: what it is sent is signed.';
  if (!PORTS.has(port) && Number(port) < FIRST_FREE_PORT) return '"url" may have the port 80, 443, or one from 1024 on.';
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) !== 0 && !addresses.allows(host)) return '"url" has a private address, and this deployment does not allow its network.';
  return null;
}

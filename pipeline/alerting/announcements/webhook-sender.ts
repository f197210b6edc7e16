import type { LookupFunction } from 'node:net';
import type { Addresses } from './addresses.ts';
import type { Send } from './courier.ts';
import { postJson } from './http-post.ts';
import { sign, SIGNATURE_HEADER } from './signature.ts';
import { bodyOf } from './webhook-body.ts';
import { webhookSecret } from './webhook.ts';

export type WebhookSenderOptions = {
  readonly addresses: Addresses;
  readonly pepper: string;
  readonly timeoutMs?: number;
  /** What resolves names for a tenant; the system's look-up without it. */
  readonly resolve?: (tenantId: number) => LookupFunction;
  /** Called as a request begins; what it gives is called once it is settled. */
  readonly onRequest?: () => () => void;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
};

const TIMEOUT_MS = 5000;
const DELIVERY_HEADER = 'X-Logweir-Delivery';

/** Sends to webhooks: signed, and to addresses that may be connected to alone. */
export const webhookSender =
  ({ addresses, pepper, timeoutMs = TIMEOUT_MS, resolve, onRequest, now = Date.now }: WebhookSenderOptions): Send =>
  (webhook, notification) => {
    const body = bodyOf[webhook.form](notification);
    const signature = sign(webhookSecret(pepper, webhook), body, Math.floor(now() / 1000));
    const headers = { [SIGNATURE_HEADER]: signature, [DELIVERY_HEADER]: notification.deliveryId };
    const lookup = resolve?.(notification.tenantId);
    const sent = postJson(new URL(webhook.url), body, {
      headers,
      timeoutMs,
      addresses,
      ...(lookup === undefined ? {} : { resolve: lookup }),
    });
    return sent.finally(onRequest?.());
  };

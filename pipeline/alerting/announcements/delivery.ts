import { idOf } from '../book/alert.ts';
import type { ShownAlert } from '../book/shown-alert.ts';
import type { WebhookEvent } from './webhook.ts';
import { readJson } from '../../core/read-json.ts';

/** An event for a webhook, kept until it is delivered. Times are milliseconds since 1970. */
export type Delivery = {
  readonly id: string;
  readonly tenantId: number;
  readonly webhookId: string;
  /** The partition of `alerts.v1` that it comes from: who has it sends it. */
  readonly partition: number;
  readonly type: WebhookEvent;
  readonly alert: ShownAlert;
  readonly madeAt: number;
  /** `failed`: it is not retried, unless a user requests it. */
  readonly state: 'pending' | 'failed';
  readonly attempts: number;
  /** When it is tried next, or when it has failed. */
  readonly at: number;
  /** What was answered last: a status, or what came in its place. */
  readonly status: number | null;
  readonly error: string | null;
};

const [SECOND, MINUTE, HOUR] = [1000, 60_000, 3_600_000];
/** Between attempts; after the last of them each hour. */
const WAITS = [10 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR];
const GIVE_UP = 24 * HOUR;
/** Failed ones are kept so long. */
export const KEPT_MS = 7 * 24 * HOUR;
/** What of an alert is sent, bytes as JSON: what is beyond has no samples, and then no evidence. */
const MAX_ALERT = 16_384;

/** The answers below 500 after which trying again may help: a time-out, too early, too many. */
const AGAIN = new Set([408, 425, 429]);

/** The same for the same event, so that it exists once, however often its alert is read. */
export const deliveryId = (...parts: readonly (string | number)[]): string => `dl_${idOf('delivery', ...parts).toString(36)}`;

/** An alert of at most 16 KiB. */
export function fitting(alert: ShownAlert): ShownAlert {
  const isFit = (one: ShownAlert): boolean => Buffer.byteLength(JSON.stringify(one)) <= MAX_ALERT;
  if (isFit(alert)) return alert;
  const evidence = Object.fromEntries(Object.entries(alert.evidence).filter(([name]) => name !== 'sample_messages'));
  const smaller = { ...alert, evidence };
  return isFit(smaller)
    ? smaller
    : { ...alert, evidence: {}, stream: alert.stream.slice(0, 1000), resolution_note: alert.resolution_note?.slice(0, 1000) ?? null };
}

/** What an attempt has come to: null where it was delivered, and else the delivery as it is then. */
export function attempted(delivery: Delivery, answer: number | Error, now: number): Delivery | null {
  const status = typeof answer === 'number' ? answer : null;
  if (status !== null && status >= 200 && status < 300) return null;
  const attempts = delivery.attempts + 1;
  const isFinal = status !== null && status < 500 && !AGAIN.has(status);
  const next = now + (WAITS[attempts - 1] ?? HOUR);
  const isOver = isFinal || next > delivery.madeAt + GIVE_UP;
  const error = typeof answer === 'number' ? null : answer.message.slice(0, 300);
  return { ...delivery, attempts, status, error, state: isOver ? 'failed' : 'pending', at: isOver ? now : next };
}

/** A delivery to be retried on request, as from now. */
export const retried = (delivery: Delivery, now: number): Delivery => ({
  ...delivery,
  state: 'pending',
  attempts: 0,
  madeAt: now,
  at: now,
});

/** The delivery of a record; null for what is none. */
export function parseDelivery(key: string, value: string): Delivery | null {
  try {
    const delivery = readJson(value) as Partial<Delivery> | null;
    const isWhole =
      delivery?.id === key &&
      Number.isInteger(delivery.tenantId) &&
      Number.isInteger(delivery.partition) &&
      Number.isFinite(delivery.at) &&
      typeof delivery.alert === 'object';
    return isWhole ? (delivery as Delivery) : null;
  } catch {
    return null;
  }
}

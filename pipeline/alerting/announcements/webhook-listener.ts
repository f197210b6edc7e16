import { PART_WHY, type AlertRow } from '../book/alert.ts';
import type { AlertListener } from './alert-feed.ts';
import { shownAlert, type Why } from '../book/shown-alert.ts';
import { deliveryId, fitting, type Delivery } from './delivery.ts';
import type { Outbox } from './outbox.ts';
import { eventOf, wants, type Webhook, type WebhookEvent } from './webhook.ts';

export type WebhookListenerOptions = {
  readonly outbox: Pick<Outbox, 'add'>;
  readonly webhooksOf: (tenantId: number) => readonly Webhook[];
  /** Called for each delivery that the outbox refused. */
  readonly onRefused: (tenantId: number) => void;
  /** How long is waited for what has changed, which is found some seconds later. Milliseconds. */
  readonly whyMs?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
};

const WHY_MS = 10_000;

/** Makes deliveries of changes of alerts, for the webhooks that want them, and puts them into the outbox. */
export class WebhookListener implements AlertListener {
  readonly name = 'webhooks';
  readonly #options: WebhookListenerOptions;
  /** Callbacks that wait for why an alert has come, by its id. */
  readonly #waiting = new Map<number, (why: Why) => void>();

  constructor(options: WebhookListenerOptions) {
    this.#options = options;
  }

  async take(rows: readonly AlertRow[], partition: number): Promise<void> {
    const made = rows.flatMap((row) => {
      const event = eventOf(row);
      const webhooks = event === null ? [] : this.#options.webhooksOf(row.tenantId).filter((webhook) => wants(webhook, row));
      return event === null || webhooks.length === 0 ? [] : [this.#notify(row, event, webhooks, partition)];
    });
    for (const { id, part, evidence, title, description } of rows)
      if (part === PART_WHY) this.#waiting.get(id)?.({ evidence, title, description });
    await Promise.all(made);
  }

  async #notify(row: AlertRow, event: WebhookEvent, webhooks: readonly Webhook[], partition: number): Promise<void> {
    const { outbox, onRefused, now = Date.now } = this.#options;
    const alert = fitting(shownAlert(row, event === 'fired' ? await this.#whyOf(row.id) : null));
    for (const { id: webhookId } of webhooks) {
      const { tenantId } = row;
      const id = deliveryId(tenantId, webhookId, row.id, event, row.updatedAt);
      const delivery: Delivery = {
        ...{ id, tenantId, webhookId, partition, type: event, alert, madeAt: now(), at: now() },
        ...{ state: 'pending', attempts: 0, status: null, error: null },
      };
      if (!(await outbox.add(delivery))) onRefused(tenantId);
    }
  }

  #whyOf(id: number): Promise<Why | null> {
    return new Promise((resolve) => {
      const end = (why: Why | null): void => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        resolve(why);
      };
      const timer = setTimeout(end, this.#options.whyMs ?? WHY_MS, null).unref();
      this.#waiting.set(id, end);
    });
  }
}

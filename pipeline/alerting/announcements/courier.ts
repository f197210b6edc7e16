import { repeat } from '../../core/repeat.ts';
import type { Service } from '../../core/service.ts';
import { attempted, KEPT_MS, type Delivery } from './delivery.ts';
import type { Outbox } from './outbox.ts';
import type { Notification } from './webhook-body.ts';
import type { Webhook } from './webhook.ts';

/** Sends a delivery to a webhook; gives the status of the answer. Rejects where there is none. */
export type Send = (webhook: Webhook, notification: Notification) => Promise<number>;

export type CourierOptions = {
  readonly outbox: Pick<Outbox, 'all' | 'change' | 'remove' | 'ready'>;
  readonly send: Send;
  /** Null where the tenant has it no more, or does not want it now. */
  readonly webhook: (tenantId: number, id: string) => Webhook | null;
  /** The partitions of `alerts.v1` that this process has: it sends what comes from them. */
  readonly partitions: () => readonly number[];
  readonly onOutcome: (outcome: 'sent' | 'again' | 'failed', delivery: Delivery) => void;
  /** Called when the outbox could not be written; it is retried. */
  readonly onError: (error: unknown) => void;
  readonly everyMs?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
};

const EVERY_MS = 500;
/** Requests at once: of a tenant, whose receiver may be slow, and of all. */
const MOST_OF_TENANT = 2;
const MOST = 100;

/** Sends what is in the outbox, each at least once, again and later where it was not taken, and forgets what has failed a week ago. */
export class Courier implements Service {
  readonly name = 'courier of webhooks';
  readonly #options: CourierOptions;
  readonly #now: () => number;
  readonly #stop = new AbortController();
  /** What is on its way, and whose it is. */
  readonly #sending = new Map<string, { readonly tenantId: number; readonly done: Promise<void> }>();
  #looking: Promise<void> | null = null;

  constructor(options: CourierOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  start(): Promise<void> {
    this.#looking = repeat(this.#options.everyMs ?? EVERY_MS, this.#stop.signal, () => {
      if (!this.#stop.signal.aborted) this.look();
      return Promise.resolve();
    });
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#looking;
    await this.idle();
  }

  /** Resolves when nothing is on its way. */
  async idle(): Promise<void> {
    while (this.#sending.size > 0) await Promise.all([...this.#sending.values()].map(({ done }) => done));
  }

  /** Sends what is due, the oldest first, as far as the limits allow. */
  look(): void {
    const { outbox, partitions } = this.#options;
    if (!outbox.ready) return;
    const [now, own] = [this.#now(), new Set(partitions())];
    const due = [...outbox.all].filter((one) => own.has(one.partition) && !this.#sending.has(one.id) && one.at <= now - keptOf(one));
    const counts = new Map<number, number>();
    for (const { tenantId } of this.#sending.values()) counts.set(tenantId, (counts.get(tenantId) ?? 0) + 1);
    for (const delivery of due.sort((a, b) => a.at - b.at)) {
      const count = counts.get(delivery.tenantId) ?? 0;
      if (this.#sending.size >= MOST) return;
      if (count >= MOST_OF_TENANT) continue;
      counts.set(delivery.tenantId, count + 1);
      const done = this.#handle(delivery)
        .catch(this.#options.onError)
        .finally(() => this.#sending.delete(delivery.id));
      this.#sending.set(delivery.id, { tenantId: delivery.tenantId, done });
    }
  }

  async #handle(delivery: Delivery): Promise<void> {
    const { outbox, send, webhook, onOutcome } = this.#options;
    const { id, tenantId, webhookId, type, alert } = delivery;
    const target = webhook(tenantId, webhookId);
    if (delivery.state === 'failed' || target === null) {
      await outbox.remove(id);
      return;
    }
    const answer = await send(target, { deliveryId: id, tenantId, type, alert }).catch((error: unknown) =>
      error instanceof Error ? error : new Error(String(error)),
    );
    const next = attempted(delivery, answer, this.#now());
    if (next === null) await outbox.remove(id);
    else await outbox.change(next);
    onOutcome(next === null ? 'sent' : next.state === 'failed' ? 'failed' : 'again', next ?? delivery);
  }
}

/** One that has failed is due when it is forgotten. */
const keptOf = ({ state }: Delivery): number => (state === 'failed' ? KEPT_MS : 0);

import type { WebhookRoutesOptions } from '../../api/alerts/webhook-routes.ts';
import type { ControlStore } from '../../api/control/control-store.ts';
import { webhooksOf } from '../../api/control/webhooks.ts';
import type { AlertListener } from '../../pipeline/alerting/announcements/alert-feed.ts';
import { KafkaCompactedLog } from '../../pipeline/bus/state/compacted-log.ts';
import { createKafka } from '../../pipeline/bus/connection/kafka.ts';
import { DELIVERIES_TOPIC } from '../../pipeline/bus/records/topics.ts';
import type { Service } from '../../pipeline/core/service.ts';
import { Addresses } from '../../pipeline/alerting/announcements/addresses.ts';
import { Courier } from '../../pipeline/alerting/announcements/courier.ts';
import { NameResolver } from '../../pipeline/alerting/announcements/name-resolver.ts';
import { Outbox } from '../../pipeline/alerting/announcements/outbox.ts';
import { WebhookListener } from '../../pipeline/alerting/announcements/webhook-listener.ts';
import { webhookSender } from '../../pipeline/alerting/announcements/webhook-sender.ts';
import type { RoleContext } from './role.ts';

/** What sends webhooks: the listener of alerts, services in their order, and what the endpoints need. */
export type Webhooks = {
  readonly listener: AlertListener;
  readonly services: readonly Service[];
  readonly routes: Pick<WebhookRoutesOptions, 'outbox' | 'send' | 'addresses' | 'pepper'>;
};

/** `partitions`: those of `alerts.v1` that this process has. */
export function createWebhooks(context: RoleContext, control: ControlStore, partitions: () => readonly number[]): Webhooks {
  const { config, metrics } = context;
  const { pepper } = config.keys;
  const log = context.log.child({ component: 'webhooks' });
  const kafka = createKafka({ ...config.kafka, clientId: 'logweir-deliveries', log });
  const outbox = new Outbox({ log: new KafkaCompactedLog({ kafka, log, topic: DELIVERIES_TOPIC }), logger: log });
  const addresses = new Addresses(config.alerts.webhookNetworks);
  const names = new NameResolver();
  const send = webhookSender({
    ...{ addresses, pepper },
    resolve: (tenantId) => names.of(tenantId),
    onRequest: () => {
      metrics.openWebhooks.inc();
      return () => {
        metrics.openWebhooks.dec();
        metrics.settledWebhooks.inc();
      };
    },
  });
  const count = (outcome: string): void => {
    metrics.notifications.inc({ to: 'webhook', outcome });
  };
  const listener = new WebhookListener({
    outbox,
    webhooksOf: (tenantId) => webhooksOf(control, tenantId),
    onRefused: (tenantId) => {
      count('refused');
      log.warn({ tenantId }, 'A webhook delivery is discarded: the tenant has too many pending.');
    },
  });
  const courier = new Courier({
    ...{ outbox, send, partitions },
    webhook: (tenantId, id) => webhooksOf(control, tenantId).find((one) => one.id === id && one.isEnabled) ?? null,
    onOutcome: (outcome, { tenantId, webhookId, id, status, error }) => {
      count(outcome);
      if (outcome === 'failed') log.warn({ tenantId, webhookId, delivery: id, status, error }, 'A webhook delivery failed.');
    },
    onError: (error) => {
      log.warn({ err: error }, 'Writing the webhook outbox failed; retrying.');
    },
  });
  return { listener, services: [outbox, courier], routes: { outbox, send, addresses, pepper } };
}

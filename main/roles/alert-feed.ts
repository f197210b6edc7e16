import { Enricher } from '../../api/alerts/enricher.ts';
import { firingAlerts } from '../../api/alerts/firing-alerts.ts';
import type { ControlStore } from '../../api/control/control-store.ts';
import type { QueryEngine } from '../../api/query/engine.ts';
import { publishAlerts, type AlertListener } from '../../pipeline/alerting/announcements/alert-feed.ts';
import { alertRecords, alertsSignal } from '../../pipeline/alerting/book/alert.ts';
import { AbsoluteWriter } from '../../pipeline/bus/producer/absolute-record.ts';
import { createKafka } from '../../pipeline/bus/connection/kafka.ts';
import { RecordFeed } from '../../pipeline/bus/consumer/record-feed.ts';
import type { Service } from '../../pipeline/core/service.ts';
import { Alertmanager } from '../../pipeline/alerting/announcements/alertmanager.ts';
import { postJson } from '../../pipeline/alerting/announcements/http-post.ts';
import type { Store } from '../../pipeline/store/client.ts';
import type { RoleContext } from './role.ts';
import { createWebhooks, type Webhooks } from './webhooks.ts';

const GROUP = 'logweir-alerts';
const ALERTMANAGER_MS = 10_000;

/** The feed of alerts as services in their order, and what the endpoints of webhooks stand on. */
export type AlertFeed = { readonly services: readonly Service[]; readonly webhooks: Webhooks['routes'] };

/** Reads alerts as they come, and passes them to their listeners. */
export function createAlertFeed(
  context: RoleContext,
  { engine, store, control }: { readonly engine: QueryEngine; readonly store: Pick<Store, 'ownerRows'>; readonly control: ControlStore },
): AlertFeed {
  const { config, metrics } = context;
  const log = context.log.child({ component: 'alerts' });
  const kafka = createKafka({ ...config.kafka, clientId: 'logweir-alert-feed', log });
  const writer = new AbsoluteWriter(kafka);
  const enricher = new Enricher({
    ...{ engine, log },
    write: (partition, rows) => writer.write(alertRecords(partition, rows)),
    onOutcome: (outcome) => {
      metrics.explainedAlerts.inc({ outcome });
    },
  });
  const partitions = (): readonly number[] => feed.partitions;
  const alertmanagers = config.alerts.alertmanagers.map((url) => new URL(url));
  const alertmanager = new Alertmanager({
    ...{ urls: alertmanagers, log, partitions },
    post: (url, body) => postJson(url, body, { timeoutMs: ALERTMANAGER_MS }),
    firing: (own) => firingAlerts(store, own),
    onOutcome: (outcome, count) => {
      metrics.notifications.inc({ to: 'alertmanager', outcome }, count);
    },
  });
  const webhooks = createWebhooks(context, control, partitions);
  const outwards = alertmanagers.length === 0 ? [] : [alertmanager];
  /** All listeners. */
  const listeners: readonly AlertListener[] = [enricher, webhooks.listener, ...outwards];
  const feed = new RecordFeed({
    ...{ kafka, log, groupId: GROUP, signal: alertsSignal },
    take: (record) => publishAlerts(record, listeners),
    onCrash: (error) => context.fail(error),
  });
  context.registerCheck('alerts', () => feed.joined);
  const writing = { name: 'writer of alerts', start: () => Promise.resolve(), stop: () => writer.close() };
  return { services: [writing, enricher, ...webhooks.services, ...outwards, feed], webhooks: webhooks.routes };
}

import { Enricher } from '../../api/alerts/enricher.ts';
import { firingAlerts } from '../../api/alerts/firing-alerts.ts';
import type { QueryEngine } from '../../api/query/engine.ts';
import { tellAlerts, type AlertListener } from '../../pipeline/alerts/alert-feed.ts';
import { alertRecords, alertsSignal } from '../../pipeline/alerts/alerts-signal.ts';
import { AbsoluteWriter } from '../../pipeline/bus/absolute-record.ts';
import { createKafka } from '../../pipeline/bus/kafka.ts';
import { RecordFeed } from '../../pipeline/bus/record-feed.ts';
import type { Service } from '../../pipeline/core/service.ts';
import { Alertmanager } from '../../pipeline/notify/alertmanager.ts';
import { postJson } from '../../pipeline/notify/http-post.ts';
import type { Store } from '../../pipeline/store/client.ts';
import type { RoleContext } from './role.ts';

const GROUP = 'logweir-alerts';
const ALERTMANAGER_MS = 10_000;

/** Who is told of alerts when they come, and the reading of them, as services in their order. */
export function createAlertFeed(
  context: RoleContext,
  { engine, store }: { readonly engine: QueryEngine; readonly store: Store },
): Service[] {
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
  const alertmanagers = config.alerts.alertmanagers.map((url) => new URL(url));
  const alertmanager = new Alertmanager({
    ...{ urls: alertmanagers, log },
    post: (url, body) => postJson(url, body, { timeoutMs: ALERTMANAGER_MS }),
    firing: (partitions) => firingAlerts(store, partitions),
    partitions: () => feed.partitions,
    onOutcome: (outcome, count) => {
      metrics.notifications.inc({ to: 'alertmanager', outcome }, count);
    },
  });
  const told: readonly (AlertListener & Service)[] = [enricher, ...(alertmanagers.length === 0 ? [] : [alertmanager])];
  const feed = new RecordFeed({
    ...{ kafka, log, groupId: GROUP, signal: alertsSignal },
    take: (record) => tellAlerts(record, told),
    onCrash: (error) => context.fail(error),
  });
  context.registerCheck('alerts', () => feed.joined);
  return [{ name: 'writer of alerts', start: () => Promise.resolve(), stop: () => writer.close() }, ...told, feed];
}

import { Enricher } from '../../api/alerts/enricher.ts';
import type { QueryEngine } from '../../api/query/engine.ts';
import { tellAlerts, type AlertListener } from '../../pipeline/alerts/alert-feed.ts';
import { alertRecords, alertsSignal } from '../../pipeline/alerts/alerts-signal.ts';
import { AbsoluteWriter } from '../../pipeline/bus/absolute-record.ts';
import { createKafka } from '../../pipeline/bus/kafka.ts';
import { RecordFeed } from '../../pipeline/bus/record-feed.ts';
import type { Service } from '../../pipeline/core/service.ts';
import type { RoleContext } from './role.ts';

const GROUP = 'logweir-alerts';

/** Who is told of alerts when they come, and the reading of them, as services in their order. */
export function createAlertFeed(context: RoleContext, engine: QueryEngine): Service[] {
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
  const listeners: readonly AlertListener[] = [enricher];
  const feed = new RecordFeed({
    ...{ kafka, log, groupId: GROUP, signal: alertsSignal },
    take: (record) => tellAlerts(record, listeners),
    onCrash: (error) => context.fail(error),
  });
  context.registerCheck('alerts', () => feed.joined);
  return [{ name: 'writer of alerts', start: () => Promise.resolve(), stop: () => writer.close() }, enricher, feed];
}

import { UsageCounts } from '../../api/limits/usage-counts.ts';
import { KafkaCompactedLog } from '../../pipeline/bus/state/compacted-log.ts';
import { createKafka } from '../../pipeline/bus/connection/kafka.ts';
import { USAGE_TOPIC } from '../../pipeline/bus/records/topics.ts';
import type { RoleContext } from './role.ts';

/** What all API nodes have counted together, as this process knows it from Kafka. */
export function createUsageCounts({ config, log, registerCheck }: RoleContext): UsageCounts {
  const kafka = createKafka({ ...config.kafka, clientId: 'logweir-usage', log });
  const logger = log.child({ component: 'usage' });
  const counts = new UsageCounts({ log: new KafkaCompactedLog({ kafka, log: logger, topic: USAGE_TOPIC }), logger });
  registerCheck('usage', () => counts.ready);
  return counts;
}

import { ControlStore } from '../../api/control/control-store.ts';
import { KafkaCompactedLog } from '../../pipeline/bus/state/compacted-log.ts';
import { createKafka } from '../../pipeline/bus/connection/kafka.ts';
import { CONTROL_TOPIC } from '../../pipeline/bus/records/topics.ts';
import type { RoleContext } from './role.ts';

/** The tenants and keys of this process, kept up from Kafka. */
export function createControlStore(context: RoleContext): ControlStore {
  const { config, log, registerCheck } = context;
  const kafka = createKafka({ ...config.kafka, clientId: 'logweir-control', log });
  const logger = log.child({ component: 'control' });
  const topic = new KafkaCompactedLog({ kafka, log: logger, topic: CONTROL_TOPIC });
  const control = new ControlStore({ log: topic, pepper: config.keys.pepper, logger });
  registerCheck('control', () => control.ready);
  context.useControl(control);
  return control;
}

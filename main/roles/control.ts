import { ControlStore } from '../../api/control/control-store.ts';
import { KafkaControlLog } from '../../pipeline/bus/control-log.ts';
import { createKafka } from '../../pipeline/bus/kafka.ts';
import type { RoleContext } from './role.ts';

/** The tenants and keys of this process, kept up from Kafka. */
export function createControlStore(context: RoleContext): ControlStore {
  const { config, log, registerCheck } = context;
  const kafka = createKafka({ brokers: config.kafka.brokers, clientId: 'logweir-control', log });
  const logger = log.child({ component: 'control' });
  const control = new ControlStore({ log: new KafkaControlLog({ kafka, log: logger }), pepper: config.keys.pepper, logger });
  registerCheck('control', () => control.ready);
  context.useControl(control);
  return control;
}

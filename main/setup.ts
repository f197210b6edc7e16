/** Run once before the roles: topics, tables, the first tenant. Safe to repeat. Its last line of output is `{"tenantId":1,"key":"…"}`. */
import { pino } from 'pino';
import { bootstrapTenant } from '../api/control/accounts.ts';
import { ControlStore } from '../api/control/control-store.ts';
import { KafkaCompactedLog } from '../pipeline/bus/compacted-log.ts';
import { createKafka } from '../pipeline/bus/kafka.ts';
import { CONTROL_TOPIC, ensureTopics } from '../pipeline/bus/topics.ts';
import { loadConfig, type Config } from '../pipeline/core/config.ts';
import { Store } from '../pipeline/store/client.ts';
import { migrate } from '../pipeline/store/migrations.ts';
import { topics } from './topics.ts';

async function prepareStore(config: Config): Promise<void> {
  const store = new Store(config.clickhouse);
  try {
    await migrate(store);
  } finally {
    await store.close();
  }
}

async function prepareKafka(config: Config): Promise<void> {
  const log = pino({ level: config.logLevel }, process.stderr);
  const kafka = createKafka({ ...config.kafka, clientId: 'logweir-setup', log });
  await ensureTopics(kafka, topics.members, { partitions: config.kafka.logPartitions, brokers: config.kafka.brokers.length });
  if (config.keys.bootstrapKey === '') return;
  const control = new ControlStore({
    log: new KafkaCompactedLog({ kafka, log, topic: CONTROL_TOPIC }),
    pepper: config.keys.pepper,
    logger: log,
  });
  await control.start();
  try {
    await control.whenReady();
    await bootstrapTenant(control, config.keys.bootstrapKey);
  } finally {
    await control.stop();
  }
}

const config = loadConfig(process.env);
await Promise.all([prepareStore(config), prepareKafka(config)]);
process.stdout.write(`${JSON.stringify({ tenantId: 1, key: config.keys.bootstrapKey })}\n`, () => process.exit(0));

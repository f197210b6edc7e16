/** Run once before the roles: topics, tables, the first tenant. Safe to repeat. Its last line of output is `{"tenantId":1,"key":"…","warnings":[…]}`. */
import { pino } from 'pino';
import { hostname } from 'node:os';
import { AdminAudit } from '../api/admin/admin-audit.ts';
import { bootstrapTenant } from '../api/control/accounts.ts';
import { shardLeftOut, shardsInUse } from '../api/control/shard-map.ts';
import { ControlStore } from '../api/control/control-store.ts';
import { KafkaCompactedLog } from '../pipeline/bus/state/compacted-log.ts';
import { kafkaFault } from '../pipeline/bus/connection/connection-fault.ts';
import { createKafka } from '../pipeline/bus/connection/kafka.ts';
import { checkTopics } from '../pipeline/bus/connection/topic-settings.ts';
import { RecordHistory } from '../pipeline/bus/state/record-history.ts';
import { ADMIN_AUDIT_TOPIC, CONTROL_TOPIC, ensureTopics } from '../pipeline/bus/records/topics.ts';
import { loadConfig, type Config } from '../pipeline/core/config.ts';
import type { ClickHouseAccess, StoreSet } from '../pipeline/core/config-sets.ts';
import { storeUnavailable } from '../pipeline/core/errors.ts';
import { clickHouseFault } from '../pipeline/store/connection-fault.ts';
import { Store } from '../pipeline/store/client.ts';
import { loadDetectors } from '../pipeline/alerting/custom/load-detectors.ts';
import { loadProcessorFiles } from './processor-files.ts';
import { makeShardTables, type Tables } from './set-tables.ts';
import { signalsWith } from './signals.ts';
import { untilBegun } from './standby.ts';
import { topicsWith } from './topics.ts';
import { whileUnavailable } from './while-unavailable.ts';

/** How long a ClickHouse that has refused something may take to tell its version. Milliseconds. */
const VERSION_MS = 5000;

/** Gives sentences that an operator should read: a set that cannot be used stops no start while another one can. */
async function prepareStores({ sets, signals, cold }: Config): Promise<readonly string[]> {
  const stored = await signalsWith(signals.files);
  const tables = { stored, cold: cold.tier, isOneOfSeveral: sets.length > 1 };
  const results = await Promise.allSettled(sets.map((set) => prepareStore(set, tables)));
  const faults = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as Error] : []));
  if (faults.length === sets.length) throw faults[0] as Error;
  return faults.map(({ message }) => `${message} Its sinks go on trying, and other sets serve`);
}

async function prepareStore(set: StoreSet, tables: Tables): Promise<void> {
  for (const access of set.shards) {
    const store = new Store(access);
    try {
      // one that is silent holds up no other
      if (tables.isOneOfSeveral && !(await store.ping())) throw storeUnavailable();
      await makeShardTables(set, store, tables);
    } catch (error) {
      throw await faultOf(error, access, store, set.name);
    } finally {
      await store.close();
    }
  }
}

/** What was wrong in a sentence that says where. */
async function faultOf(error: unknown, access: ClickHouseAccess, store: Store, set: string): Promise<Error> {
  const version = await store.ownerRows('SELECT version()', {}, AbortSignal.timeout(VERSION_MS)).then(
    ([row]) => String(row?.[0]),
    () => null,
  );
  return new Error(clickHouseFault(error, access, version, set), { cause: error });
}

/** Gives sentences that an operator should read. */
async function prepareKafka(config: Config): Promise<readonly string[]> {
  const log = pino({ level: config.logLevel }, process.stderr);
  const kafka = createKafka({ ...config.kafka, clientId: 'logweir-setup', log });
  // what cannot be used is reported before anything is begun
  await loadDetectors(config.detectors.sources);
  const topics = topicsWith(await loadProcessorFiles(config.processors.files), await signalsWith(config.signals.files));
  await ensureTopics(kafka, topics.members, {
    ...config.kafka,
    partitions: config.kafka.logPartitions,
    brokers: config.kafka.brokers.length,
  });
  const { refused, warnings } = await checkTopics(kafka, topics.members, config.kafka.replication);
  if (refused.length > 0) throw new Error(`Kafka's topics are not as they must be: ${refused.join('. ')}.`);
  for (const warning of warnings) log.warn(warning);
  if (config.keys.bootstrapKey === '' && config.knownSets.length === 1) return warnings;
  const control = new ControlStore({
    log: new KafkaCompactedLog({ kafka, log, topic: CONTROL_TOPIC }),
    pepper: config.keys.pepper,
    logger: log,
  });
  const history = new RecordHistory({ kafka, topic: ADMIN_AUDIT_TOPIC });
  const audit = new AdminAudit(history, log);
  await control.start();
  try {
    await control.whenReady();
    for (const { name, shards } of config.sets) {
      const used = shardsInUse(control, name);
      if (used > shards.length) throw new Error(shardLeftOut(name, used, shards.length));
    }
    if (config.keys.bootstrapKey === '') return warnings;
    const actor = { client: `setup, process ${String(process.pid)} on ${hostname()}` };
    await whileUnavailable(() =>
      bootstrapTenant(control, config.keys.bootstrapKey, (change, make) =>
        audit.around({ ...change, actor, details: {} }, make, () => ({})),
      ),
    );
  } finally {
    await Promise.all([control.stop(), history.stop()]);
  }
  return warnings;
}

/** What was wrong with Kafka in a sentence that says where it was looked for. */
const orKafkaFault =
  ({ kafka }: Config) =>
  (error: unknown): never => {
    const fault = kafkaFault(error, kafka);
    throw fault === null ? error : new Error(fault, { cause: error });
  };

await untilBegun();
const config = loadConfig(process.env);
try {
  const warnings = (await Promise.all([prepareKafka(config).catch(orKafkaFault(config)), prepareStores(config)])).flat();
  process.stdout.write(`${JSON.stringify({ tenantId: 1, key: config.keys.bootstrapKey, warnings })}\n`, () => process.exit(0));
} catch (error) {
  // the supervisor shows the last line
  const { message, stack } = error as Error;
  process.stderr.write(`${JSON.stringify({ level: 60, time: Date.now(), role: 'setup', stack, msg: message })}\n`, () => process.exit(1));
}

import kafkajs, { type Admin } from 'kafkajs';
import { BROKER_NAMES, type BrokerName } from './broker-network.ts';

/** What these functions ask: any broker that answers, past all proxies. One that is cut off may not know it, and tell what was. */
type Addressed = { readonly kafkaAddresses: readonly string[] };

const PATIENCE = { connectionTimeout: 1000, requestTimeout: 3000, retry: { retries: 2, initialRetryTime: 100 } };
const POLL_MS = 250;

export function harnessClient(brokers: readonly string[]): kafkajs.Kafka {
  return new kafkajs.Kafka({ brokers: [...brokers], clientId: 'fault-harness', logLevel: kafkajs.logLevel.NOTHING, ...PATIENCE });
}

export async function withAdmin<T>({ kafkaAddresses }: Addressed, ask: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = harnessClient(kafkaAddresses).admin();
  try {
    await admin.connect();
    return await ask(admin);
  } finally {
    await admin.disconnect();
  }
}

/** Waits for what a look at Kafka says, also while none can be had. */
export async function untilKafka(what: string, timeoutMs: number, holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await holds().catch(() => false))) {
    if (Date.now() > deadline) throw new Error(`Kafka: not within ${String(timeoutMs / 1000)} s: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Waits until every broker counts as alive: topics that are made before have fewer copies. */
export const untilAllAlive = (cluster: Addressed, timeoutMs = 240_000): Promise<void> =>
  untilKafka('all brokers are alive', timeoutMs, () =>
    withAdmin(cluster, async (admin) => (await admin.describeCluster()).brokers.length === cluster.kafkaAddresses.length),
  );

/** Waits until every copy of every partition is in sync, as any broker says. */
export const untilInSync = (cluster: Addressed, timeoutMs = 240_000): Promise<void> =>
  untilKafka('all copies are in sync', timeoutMs, () => isInSync(cluster));

export const isInSync = (cluster: Addressed): Promise<boolean> =>
  withAdmin(cluster, async (admin) => {
    const { topics } = await admin.fetchTopicMetadata();
    const partitions = topics.flatMap((topic) => topic.partitions);
    return partitions.length > 0 && partitions.every(({ leader, isr, replicas }) => leader > 0 && isr.length === replicas.length);
  });

/** The broker that leads each partition of a topic. */
export const leadersOf = (cluster: Addressed, topic: string): Promise<BrokerName[]> =>
  withAdmin(cluster, async (admin) => {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    return (topics[0]?.partitions ?? []).flatMap(({ leader }) => BROKER_NAMES[leader - 1] ?? []);
  });

/** Topics whose settings let a copy lead that lacks what was acknowledged, or that have too few copies. */
export const unsafeTopics = (cluster: Addressed): Promise<string[]> =>
  withAdmin(cluster, async (admin) => {
    const { topics } = await admin.fetchTopicMetadata();
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: topics.map(({ name }) => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name })),
    });
    return topics
      .filter(({ name, partitions }) => {
        const entries = resources.find(({ resourceName }) => resourceName === name)?.configEntries ?? [];
        const valueOf = (setting: string): string | undefined => entries.find(({ configName }) => configName === setting)?.configValue;
        const isSafe = valueOf('unclean.leader.election.enable') === 'false' && valueOf('min.insync.replicas') === '2';
        return !isSafe || partitions.some(({ replicas }) => replicas.length !== 3);
      })
      .map(({ name }) => name);
  });

import type { Admin, Kafka } from 'kafkajs';
import { clusterOf } from './kafkajs-cluster.ts';
import { queryOnce } from './admin-connection.ts';
import { withTimeout } from './with-timeout.ts';
import { kafkajs } from './kafkajs.ts';
import type { TopicSpec } from '../records/topics.ts';

/** What is wrong with topics: what the service cannot work with, and what puts acknowledged records at risk. */
export type TopicFaults = { readonly refused: readonly string[]; readonly warnings: readonly string[] };

/** How a topic is set up: its settings by their names, how many replicas its partitions have at least, and in how many racks. */
export type TopicState = { readonly settings: ReadonlyMap<string, string>; readonly replicas: number; readonly racks?: number };

const NAMES = ['message.timestamp.type', 'cleanup.policy', 'min.insync.replicas', 'retention.bytes'];
const DEADLINE_MS = 20_000;
const MOST_REPLICAS = 3;

/** Compares a topic, which others may have made or changed, with what rests on it. */
export function topicFaults({ name, timestamps, cleanup }: TopicSpec, state: TopicState, wanted: Wanted = {}): TopicFaults {
  const { settings, replicas } = state;
  const refused: string[] = [];
  const warnings: string[] = [];
  const is = (setting: string): string => `The topic ${name} has ${setting}=${settings.get(setting) ?? ''}`;
  if (timestamps === 'append' && settings.get('message.timestamp.type') !== 'LogAppendTime')
    refused.push(
      `${is('message.timestamp.type')}; it must be LogAppendTime, which distinguishes a record from another one with its offset`,
    );

  const [has, needs] = [settings.get('cleanup.policy') ?? '', cleanup].map((policy) => new Set(policy.split(','))) as [
    Set<string>,
    Set<string>,
  ];
  // without `delete` it keeps more than it needs to
  if (has.has('compact') !== needs.has('compact') || (has.has('delete') && !needs.has('delete')))
    refused.push(`${is('cleanup.policy')}; it must be ${cleanup}, else Kafka deletes what is needed`);

  const inSync = Number(settings.get('min.insync.replicas'));
  const least = Math.max(1, Math.min(MOST_REPLICAS, replicas) - 1);
  if (inSync > replicas) refused.push(`${is('min.insync.replicas')} and ${String(replicas)} replicas: Kafka takes no record`);
  else if (inSync < least)
    warnings.push(`${is('min.insync.replicas')}; with less than ${String(least)} an acknowledged record may be on one broker alone`);
  else if (inSync === replicas && replicas > 1)
    warnings.push(`${is('min.insync.replicas')} and as many replicas: nothing is taken while one broker is unavailable`);

  if (has.has('delete') && Number(settings.get('retention.bytes')) >= 0)
    warnings.push(
      `${is('retention.bytes')}; records may be deleted before they are stored, and ingest is not paused before that. Set it to -1`,
    );
  warnings.push(...placementFaults(name, state, wanted));
  return { refused, warnings };
}

/** How many replicas are configured, and in how many racks the brokers are; without them nothing is known of either. */
type Wanted = { readonly replication?: number; readonly racks?: number };

/** What the loss of a broker or of a rack would take with it. */
function placementFaults(name: string, { replicas, racks }: TopicState, wanted: Wanted): string[] {
  const faults: string[] = [];
  if (replicas < (wanted.replication ?? 0))
    faults.push(
      `The topic ${name} has ${String(replicas)} replicas, and LOGWEIR_KAFKA_REPLICATION is ${String(wanted.replication)}; kafka-reassign-partitions.sh adds them`,
    );
  const most = Math.min(replicas, wanted.racks ?? 0);
  if (racks !== undefined && most > 1 && racks < most)
    faults.push(
      `The topic ${name} has all copies of a partition in ${String(racks)} of ${String(wanted.racks)} racks; kafka-reassign-partitions.sh spreads them`,
    );
  return faults;
}

/** Looks at topics that exist. What this client may not look at is a warning. */
export async function checkTopics(kafka: Kafka, topics: readonly TopicSpec[], replication = 0): Promise<TopicFaults> {
  try {
    const racks = await withTimeout(DEADLINE_MS, racksOf(kafka));
    const states = await queryOnce(kafka, DEADLINE_MS, (admin) => statesOf(admin, topics, racks));
    const wanted = { replication, racks: new Set(racks.values()).size };
    const faults = topics.map((spec) => topicFaults(spec, states.get(spec.name) ?? { settings: new Map(), replicas: 0 }, wanted));
    return { refused: faults.flatMap(({ refused }) => refused), warnings: faults.flatMap(({ warnings }) => warnings) };
  } catch (error) {
    if ((error as { readonly type?: unknown }).type !== 'TOPIC_AUTHORIZATION_FAILED') throw error;
    return {
      refused: [],
      warnings: ["The settings of Kafka's topics cannot be checked: this user may not DescribeConfigs on all of them"],
    };
  }
}

type Cluster = {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  metadata(): Promise<{ readonly brokers: readonly { readonly nodeId: number; readonly rack: string | null }[] }>;
};

/** In which rack each broker is (`broker.rack`); those that name none are left out. kafkajs' admin does not report it. */
async function racksOf(kafka: Kafka): Promise<ReadonlyMap<number, string>> {
  const cluster = clusterOf(kafka) as Cluster;
  try {
    await cluster.connect();
    const { brokers } = await cluster.metadata();
    return new Map(brokers.flatMap(({ nodeId, rack }) => (rack === null || rack === '' ? [] : [[nodeId, rack] as const])));
  } finally {
    cluster.disconnect().catch(() => undefined);
  }
}

/** In how many racks the copies of a partition are at least; undefined where a broker names none. */
function racksOfCopies(
  partitions: readonly { readonly replicas: readonly number[] }[],
  racks: ReadonlyMap<number, string>,
): number | undefined {
  const counts = partitions.map(({ replicas }) =>
    replicas.every((broker) => racks.has(broker)) ? new Set(replicas.map((broker) => racks.get(broker))).size : Infinity,
  );
  const least = Math.min(...counts);
  return Number.isFinite(least) ? least : undefined;
}

async function statesOf(admin: Admin, topics: readonly TopicSpec[], racks: ReadonlyMap<number, string>): Promise<Map<string, TopicState>> {
  const names = topics.map(({ name }) => name);
  const type = kafkajs.ConfigResourceTypes.TOPIC;
  const [configs, metadata] = await Promise.all([
    admin.describeConfigs({ resources: names.map((name) => ({ type, name, configNames: NAMES })), includeSynonyms: false }),
    admin.fetchTopicMetadata({ topics: names }),
  ]);
  const replicas = new Map(
    metadata.topics.map(({ name, partitions }) => [name, Math.min(...partitions.map((partition) => partition.replicas.length))]),
  );
  const spread = new Map(metadata.topics.map(({ name, partitions }) => [name, racksOfCopies(partitions, racks)]));
  return new Map(
    configs.resources.map(({ resourceName, configEntries }) => {
      const settings = new Map(configEntries.map(({ configName, configValue }) => [configName, configValue]));
      const inRacks = spread.get(resourceName);
      return [resourceName, { settings, replicas: replicas.get(resourceName) ?? 0, ...(inRacks === undefined ? {} : { racks: inRacks }) }];
    }),
  );
}

import type { Admin, Kafka } from 'kafkajs';
import { queryOnce } from './admin-connection.ts';
import { kafkajs } from './kafkajs.ts';
import type { TopicSpec } from '../records/topics.ts';

/** What is wrong with topics: what the service cannot work with, and what puts acknowledged records at risk. */
export type TopicFaults = { readonly refused: readonly string[]; readonly warnings: readonly string[] };

/** How a topic is set up: its settings by their names, and how many replicas its partitions have at least. */
export type TopicState = { readonly settings: ReadonlyMap<string, string>; readonly replicas: number };

const NAMES = ['message.timestamp.type', 'cleanup.policy', 'min.insync.replicas', 'retention.bytes'];
const DEADLINE_MS = 20_000;
const MOST_REPLICAS = 3;

/** Compares a topic, which others may have made or changed, with what rests on it. */
export function topicFaults({ name, timestamps, cleanup }: TopicSpec, { settings, replicas }: TopicState): TopicFaults {
  const refused: string[] = [];
  const warnings: string[] = [];
  const is = (setting: string): string => `The topic ${name} has ${setting}=${settings.get(setting) ?? ''}`;
  if (timestamps === 'append' && settings.get('message.timestamp.type') !== 'LogAppendTime')
    refused.push(
      `${is('message.timestamp.type')}; it must be LogAppendTime, which distinguishes a record from another one with its offset`,
    );

  const [has, wanted] = [settings.get('cleanup.policy') ?? '', cleanup].map((policy) => new Set(policy.split(','))) as [
    Set<string>,
    Set<string>,
  ];
  // without `delete` it keeps more than it needs to
  if (has.has('compact') !== wanted.has('compact') || (has.has('delete') && !wanted.has('delete')))
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
  return { refused, warnings };
}

/** Looks at topics that exist. What this client may not look at is a warning. */
export async function checkTopics(kafka: Kafka, topics: readonly TopicSpec[]): Promise<TopicFaults> {
  try {
    const states = await queryOnce(kafka, DEADLINE_MS, (admin) => statesOf(admin, topics));
    const faults = topics.map((spec) => topicFaults(spec, states.get(spec.name) ?? { settings: new Map(), replicas: 0 }));
    return { refused: faults.flatMap(({ refused }) => refused), warnings: faults.flatMap(({ warnings }) => warnings) };
  } catch (error) {
    if ((error as { readonly type?: unknown }).type !== 'TOPIC_AUTHORIZATION_FAILED') throw error;
    return {
      refused: [],
      warnings: ["The settings of Kafka's topics cannot be checked: this user may not DescribeConfigs on all of them"],
    };
  }
}

async function statesOf(admin: Admin, topics: readonly TopicSpec[]): Promise<Map<string, TopicState>> {
  const names = topics.map(({ name }) => name);
  const type = kafkajs.ConfigResourceTypes.TOPIC;
  const [configs, metadata] = await Promise.all([
    admin.describeConfigs({ resources: names.map((name) => ({ type, name, configNames: NAMES })), includeSynonyms: false }),
    admin.fetchTopicMetadata({ topics: names }),
  ]);
  const replicas = new Map(
    metadata.topics.map(({ name, partitions }) => [name, Math.min(...partitions.map((partition) => partition.replicas.length))]),
  );
  return new Map(
    configs.resources.map(({ resourceName, configEntries }) => {
      const settings = new Map(configEntries.map(({ configName, configValue }) => [configName, configValue]));
      return [resourceName, { settings, replicas: replicas.get(resourceName) ?? 0 }];
    }),
  );
}

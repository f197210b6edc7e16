import type { Admin, ITopicConfig, Kafka } from 'kafkajs';

/** Names carry a generation: a topic is never made anew under the same name, since offsets would begin again and old tokens match. */
export const LOGS_TOPIC = 'logs.v1';
export const CONTROL_TOPIC = 'control.v1';
export const USAGE_TOPIC = 'usage.v1';
export const DEAD_LETTER_TOPIC = 'dead-letter.v1';

const DAY_MS = 86_400_000;
const MOST_REPLICAS = 3;
/** The largest record batch; the embedded broker is set to it too. */
export const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;

const entries = (options: Readonly<Record<string, string>>): { name: string; value: string }[] =>
  Object.entries(options).map(([name, value]) => ({ name, value }));

/** The topics of the service, as they are created where they are missing. An existing topic keeps its settings. */
export function topicConfigs(options: { readonly logPartitions: number; readonly replicas: number }): ITopicConfig[] {
  const replicationFactor = Math.min(MOST_REPLICAS, options.replicas);
  const durable = {
    'min.insync.replicas': String(Math.max(1, replicationFactor - 1)),
    'unclean.leader.election.enable': 'false',
    'max.message.bytes': String(MAX_MESSAGE_BYTES),
  };
  return [
    {
      topic: LOGS_TOPIC,
      numPartitions: options.logPartitions,
      replicationFactor,
      configEntries: entries({
        ...durable,
        'cleanup.policy': 'delete',
        'retention.ms': String(7 * DAY_MS),
        'message.timestamp.type': 'LogAppendTime',
      }),
    },
    {
      topic: CONTROL_TOPIC,
      numPartitions: 1,
      replicationFactor,
      configEntries: entries({ ...durable, 'cleanup.policy': 'compact', 'min.cleanable.dirty.ratio': '0.1' }),
    },
    {
      topic: USAGE_TOPIC,
      numPartitions: 1,
      replicationFactor,
      configEntries: entries({
        ...durable,
        // what a node said that is gone falls away with the log it speaks of
        'cleanup.policy': 'compact,delete',
        'retention.ms': String(7 * DAY_MS),
        'segment.ms': String(10 * 60_000),
        'min.cleanable.dirty.ratio': '0.1',
      }),
    },
    {
      topic: DEAD_LETTER_TOPIC,
      numPartitions: 1,
      replicationFactor,
      configEntries: entries({
        ...durable,
        // a letter is its record and what is known of it
        'max.message.bytes': String(MAX_MESSAGE_BYTES + 1024 * 1024),
        'cleanup.policy': 'delete',
        'retention.ms': String(30 * DAY_MS),
        'message.timestamp.type': 'LogAppendTime',
      }),
    },
  ];
}

export type EnsureTopicsOptions = {
  readonly logPartitions: number;
  /** How many brokers the cluster has at least: topics are not made with fewer copies because one of them is away just now. */
  readonly brokers?: number;
  readonly timeoutMs?: number;
};

/**
 * Creates what is missing and waits until every partition has a leader (KRaft answers before it has). Throws where a topic is missing and
 * brokers are away.
 */
export async function ensureTopics(kafka: Kafka, { logPartitions, brokers = 1, timeoutMs = 30_000 }: EnsureTopicsOptions): Promise<void> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    const existing = new Set(await admin.listTopics());
    const deadline = Date.now() + timeoutMs;
    let wanted = topicConfigs({ logPartitions, replicas: brokers });
    if (wanted.some(({ topic }) => !existing.has(topic))) {
      wanted = topicConfigs({ logPartitions, replicas: await liveBrokers(admin, Math.min(MOST_REPLICAS, brokers), deadline) });
      await admin.createTopics({ topics: wanted.filter(({ topic }) => !existing.has(topic)), waitForLeaders: false });
    }
    await waitForLeaders(
      admin,
      wanted.map(({ topic }) => topic),
      deadline,
    );
  } finally {
    await admin.disconnect();
  }
}

/** How many brokers are there, once they are at least so many. */
async function liveBrokers(admin: Admin, least: number, deadline: number): Promise<number> {
  for (;;) {
    const { brokers } = await admin.describeCluster();
    if (brokers.length >= least) return brokers.length;
    if (Date.now() > deadline) {
      const found = `Kafka has ${String(brokers.length)} of its ${String(least)} brokers`;
      throw new Error(`${found}; the topics are made when all are there, so that each has all its copies.`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function waitForLeaders(admin: Admin, topics: string[], deadline: number): Promise<void> {
  for (;;) {
    try {
      const metadata = await admin.fetchTopicMetadata({ topics });
      if (metadata.topics.every(({ partitions }) => partitions.length > 0 && partitions.every(({ leader }) => leader >= 0))) return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    if (Date.now() > deadline) throw new Error(`The topics ${topics.join(', ')} have no leaders.`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** How many partitions a topic has. */
export async function partitionCount(kafka: Kafka, topic: string): Promise<number> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    return topics[0]?.partitions.length ?? 0;
  } finally {
    await admin.disconnect();
  }
}

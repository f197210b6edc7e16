import type { Admin, ITopicConfig, Kafka } from 'kafkajs';

/** Names carry a generation: a topic is never made anew under the same name, since offsets would begin again and old tokens match. */
export const LOGS_TOPIC = 'logs.v1';
export const CONTROL_TOPIC = 'control.v1';
export const USAGE_TOPIC = 'usage.v1';
export const DEAD_LETTER_TOPIC = 'dead-letter.v1';

const DAY_MS = 86_400_000;
/** The largest record batch; the embedded broker is set to it too. */
export const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;

const entries = (options: Readonly<Record<string, string>>): { name: string; value: string }[] =>
  Object.entries(options).map(([name, value]) => ({ name, value }));

/** The topics of the service, as they are created where they are missing. An existing topic keeps its settings. */
export function topicConfigs(options: { readonly logPartitions: number; readonly replicas: number }): ITopicConfig[] {
  const replicationFactor = Math.min(3, options.replicas);
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

/** Creates what is missing and waits until every partition has a leader (KRaft answers before it has). */
export async function ensureTopics(kafka: Kafka, logPartitions: number, timeoutMs = 30_000): Promise<void> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    const existing = new Set(await admin.listTopics());
    const { brokers } = await admin.describeCluster();
    const wanted = topicConfigs({ logPartitions, replicas: brokers.length });
    const missing = wanted.filter(({ topic }) => !existing.has(topic));
    if (missing.length > 0) await admin.createTopics({ topics: missing, waitForLeaders: false });
    await waitForLeaders(
      admin,
      wanted.map(({ topic }) => topic),
      timeoutMs,
    );
  } finally {
    await admin.disconnect();
  }
}

async function waitForLeaders(admin: Admin, topics: string[], timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    try {
      const metadata = await admin.fetchTopicMetadata({ topics });
      if (metadata.topics.every(({ partitions }) => partitions.length > 0 && partitions.every(({ leader }) => leader >= 0))) return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    if (Date.now() > deadline) throw new Error(`The topics ${topics.join(', ')} have no leaders after ${String(timeoutMs)} ms.`);
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

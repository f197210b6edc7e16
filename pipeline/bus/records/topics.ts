import type { Admin, ITopicConfig, Kafka } from 'kafkajs';

/** Names carry a generation: a topic is never recreated under the same name, since offsets would begin again and old tokens match. */
export const CONTROL_TOPIC = 'control.v1';
export const USAGE_TOPIC = 'usage.v1';
export const AI_CREDITS_TOPIC = 'ai-credits.v1';
export const DEAD_LETTER_TOPIC = 'dead-letter.v1';
export const ADMIN_AUDIT_TOPIC = 'admin-audit.v1';
export const DELIVERIES_TOPIC = 'deliveries.v1';

const DAY_MS = 86_400_000;
const MOST_REPLICAS = 3;
/** The largest record batch; the embedded broker is set to it too. */
export const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;

/** A topic, as it is created where it is missing. */
export type TopicSpec = {
  readonly name: string;
  /** `configured`: as many as the instance is configured to have (`LOGWEIR_LOG_PARTITIONS`). */
  readonly partitions: number | 'configured';
  readonly cleanup: 'delete' | 'compact' | 'compact,delete';
  /** How long a record is kept; without it for ever, or until a later one of its key. */
  readonly retentionMs?: number;
  readonly maxMessageBytes: number;
  /** Whose clock stamps a record: the broker's when it is appended, or the producer's. */
  readonly timestamps: 'append' | 'create';
  /** Further settings of Kafka. */
  readonly settings?: Readonly<Record<string, string>>;
};

/** The topics of the bus itself; those of signals stand with the signals. */
export const busTopics: readonly TopicSpec[] = [
  {
    name: CONTROL_TOPIC,
    partitions: 1,
    cleanup: 'compact',
    maxMessageBytes: MAX_MESSAGE_BYTES,
    timestamps: 'create',
    settings: { 'min.cleanable.dirty.ratio': '0.1' },
  },
  {
    name: USAGE_TOPIC,
    partitions: 1,
    // what a node that has ended published is deleted with the log it describes
    cleanup: 'compact,delete',
    retentionMs: 7 * DAY_MS,
    maxMessageBytes: MAX_MESSAGE_BYTES,
    timestamps: 'create',
    settings: { 'segment.ms': String(10 * 60_000), 'min.cleanable.dirty.ratio': '0.1' },
  },
  {
    name: AI_CREDITS_TOPIC,
    partitions: 1,
    cleanup: 'delete',
    // a day counts until it ends, whatever the clocks of nodes are
    retentionMs: 3 * DAY_MS,
    maxMessageBytes: 1024 * 1024,
    timestamps: 'append',
    settings: { 'segment.ms': String(6 * 60 * 60_000) },
  },
  {
    name: DEAD_LETTER_TOPIC,
    partitions: 1,
    cleanup: 'delete',
    retentionMs: 30 * DAY_MS,
    // a letter is its record and what is known of it
    maxMessageBytes: MAX_MESSAGE_BYTES + 1024 * 1024,
    timestamps: 'append',
  },
  {
    name: DELIVERIES_TOPIC,
    partitions: 1,
    cleanup: 'compact',
    maxMessageBytes: 1024 * 1024,
    timestamps: 'create',
    // what was delivered is not needed again
    settings: { 'segment.ms': String(60 * 60_000), 'min.cleanable.dirty.ratio': '0.1', 'delete.retention.ms': String(10 * 60_000) },
  },
  {
    name: ADMIN_AUDIT_TOPIC,
    partitions: 1,
    // of the two lines of a change the later one has all of the earlier one
    cleanup: 'compact,delete',
    retentionMs: 400 * DAY_MS,
    maxMessageBytes: 1024 * 1024,
    timestamps: 'append',
  },
];

/** The topic of a processor's snapshots: as many partitions as the log, each read by its owner alone, from its beginning, whenever it is assigned. */
export const stateTopic = (processor: string): TopicSpec => ({
  name: `state.${processor}.v1`,
  partitions: 'configured',
  cleanup: 'compact',
  maxMessageBytes: MAX_MESSAGE_BYTES,
  timestamps: 'create',
  settings: {
    // what lies in the last segment is not compacted, whatever of it is old; no batch may be larger than a segment
    'segment.bytes': String(MAX_MESSAGE_BYTES),
    'segment.ms': String(5 * 60_000),
    'min.cleanable.dirty.ratio': '0.1',
    // a reader that misses the removal of a snapshot takes a later one all the same
    'delete.retention.ms': String(60_000),
  },
});

/** How many partitions and replicas topics get that do not say it themselves. */
type Sizes = { readonly partitions: number; readonly replicas: number; readonly replication?: number; readonly minInSync?: number };

/** A topic as it is requested of Kafka. */
export function topicConfig(spec: TopicSpec, { partitions, replicas, replication = 0, minInSync = 0 }: Sizes): ITopicConfig {
  const replicationFactor = replication || Math.min(MOST_REPLICAS, replicas);
  const settings = {
    'min.insync.replicas': String(minInSync || Math.max(1, Math.min(MOST_REPLICAS, replicationFactor) - 1)),
    'unclean.leader.election.enable': 'false',
    'max.message.bytes': String(spec.maxMessageBytes),
    'cleanup.policy': spec.cleanup,
    ...(spec.retentionMs === undefined ? {} : { 'retention.ms': String(spec.retentionMs) }),
    ...(spec.timestamps === 'append' ? { 'message.timestamp.type': 'LogAppendTime' } : {}),
    ...spec.settings,
  };
  return {
    topic: spec.name,
    numPartitions: spec.partitions === 'configured' ? partitions : spec.partitions,
    replicationFactor,
    configEntries: Object.entries(settings).map(([name, value]) => ({ name, value })),
  };
}

export type EnsureTopicsOptions = {
  /** Of the topics whose number is configured. */
  readonly partitions: number;
  /** How many brokers the cluster has at least: topics are not made with fewer replicas because one of them is unavailable. */
  readonly brokers?: number;
  /** Replicas of a topic; 0: one on each broker, up to three. */
  readonly replication?: number;
  /** `min.insync.replicas`; 0: one less than there are replicas, up to two. */
  readonly minInSync?: number;
  readonly timeoutMs?: number;
};

/**
 * Creates what is missing and waits until every partition has a leader (KRaft answers before it has). Throws where a topic is missing and
 * brokers are unavailable. An existing topic keeps its settings.
 */
export async function ensureTopics(
  kafka: Kafka,
  topics: readonly TopicSpec[],
  { partitions, brokers = 1, replication = 0, minInSync = 0, timeoutMs = 30_000 }: EnsureTopicsOptions,
): Promise<void> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    const existing = new Set(await admin.listTopics());
    const deadline = Date.now() + timeoutMs;
    const missing = topics.filter(({ name }) => !existing.has(name));
    if (missing.length > 0) {
      const replicas = await liveBrokers(admin, Math.max(replication, Math.min(MOST_REPLICAS, brokers)), deadline);
      const sizes = { partitions, replicas, replication, minInSync };
      await admin.createTopics({ topics: missing.map((spec) => topicConfig(spec, sizes)), waitForLeaders: false });
    }
    await waitForLeaders(
      admin,
      topics.map(({ name }) => name),
      deadline,
    );
  } finally {
    await admin.disconnect();
  }
}

/** How many brokers are there, once they are at least `least`. */
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

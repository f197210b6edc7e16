import kafkajs, { type Admin, type Kafka } from 'kafkajs';
import type { Service } from '../core/service.ts';
import { withTimeout } from './with-timeout.ts';

/** A record that is not consumed after this share of the topic's retention is in danger of being deleted unread. */
const DANGER = 0.7;
/** Without an answer for so long it is not known how old they are. Milliseconds. */
const DEADLINE_MS = 20_000;

export type UnreadAgeOptions = { readonly kafka: Kafka; readonly topic: string; readonly groupId: string; readonly now?: () => number };

/** Where a partition stands, in offsets. */
export type Position = {
  readonly partition: number;
  /** The first record that is still there. */
  readonly low: number;
  /** What the group consumes next; -1: it has consumed nothing yet. */
  readonly committed: number;
  /** The first record that is young enough, or the end. */
  readonly young: number;
};

/** The partition that has a record which is too old and not consumed; the first one, if any. */
export const overdue = (positions: readonly Position[]): Position | undefined =>
  positions.find(({ low, committed, young }) => young > Math.max(low, committed));

/** Watches whether Kafka's retention comes near the records of a topic that a group has not consumed yet. */
export class UnreadAge implements Service {
  readonly name: string;
  readonly #options: UnreadAgeOptions;
  #admin: Admin | null = null;

  constructor(options: UnreadAgeOptions) {
    this.#options = options;
    this.name = `age of ${options.topic}`;
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  /** Says which partition is in danger, or null; rejects where Kafka does not answer. */
  async check(): Promise<string | null> {
    try {
      return await withTimeout(DEADLINE_MS, this.#look());
    } catch (error) {
      // not waited for: it may be what does not answer
      void this.stop();
      throw error;
    }
  }

  async #look(): Promise<string | null> {
    const { kafka, topic, groupId, now = Date.now } = this.#options;
    if (this.#admin === null) {
      const admin = kafka.admin();
      await admin.connect();
      this.#admin = admin;
    }
    const retentionMs = await retentionOf(this.#admin, topic);
    if (retentionMs < 0) return null;
    const positions = await positionsOf(this.#admin, topic, groupId, Math.floor(now() - DANGER * retentionMs));
    const found = overdue(positions);
    if (found === undefined) return null;
    return `Records of ${topic}, partition ${String(found.partition)}, are not stored yet and near the end of their retention.`;
  }

  /** A check after it connects anew. */
  async stop(): Promise<void> {
    const admin = this.#admin;
    this.#admin = null;
    await admin?.disconnect().catch(() => undefined);
  }
}

/** Milliseconds; -1 where records are kept for ever. */
async function retentionOf(admin: Admin, topic: string): Promise<number> {
  const { resources } = await admin.describeConfigs({
    resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic, configNames: ['retention.ms'] }],
    includeSynonyms: false,
  });
  return Number(resources[0]?.configEntries.find(({ configName }) => configName === 'retention.ms')?.configValue ?? -1);
}

async function positionsOf(admin: Admin, topic: string, groupId: string, since: number): Promise<Position[]> {
  const [[group], young, offsets] = await Promise.all([
    admin.fetchOffsets({ groupId, topics: [topic] }),
    admin.fetchTopicOffsetsByTimestamp(topic, since),
    admin.fetchTopicOffsets(topic),
  ]);
  const committed = new Map(group?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
  const youngest = new Map(young.map(({ partition, offset }) => [partition, Number(offset)]));
  return offsets.map(({ partition, low }) => ({
    partition,
    low: Number(low),
    committed: committed.get(partition) ?? -1,
    young: youngest.get(partition) ?? 0,
  }));
}

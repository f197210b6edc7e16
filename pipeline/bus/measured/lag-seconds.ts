import type { Admin } from 'kafkajs';
import { kafkajs } from '../connection/kafkajs.ts';
import type { AdminConnection } from '../connection/admin-connection.ts';
import { boundsOf, committedByAny, firstSince } from '../reading/group-positions.ts';

/** A record that is not consumed after this share of the topic's retention is in danger of being deleted unread. */
const DANGER = 0.7;
/** Where nothing is in danger, the next look is so much later: five requests to Kafka for each topic. Milliseconds. */
const LOOK_EVERY_MS = 10_000;
/** And at the latest when this share has passed of the time that a record in danger has left. */
const OF_WHAT_IS_LEFT = 0.01;

export type LagSecondsOptions = {
  /** The caller owns it. */
  readonly connection: Pick<AdminConnection, 'query'>;
  readonly topic: string;
  readonly groupId: string;
  /** Groups of other sets that store the same: what one of them has is not in danger. */
  readonly others?: readonly string[];
  readonly now?: () => number;
  /** A clock that nobody sets, milliseconds: for the time between two looks. */
  readonly elapsed?: () => number;
};

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
export class LagSeconds {
  readonly #options: LagSecondsOptions;
  #fineUntil = -Infinity;

  constructor(options: LagSecondsOptions) {
    this.#options = options;
  }

  /** Returns which partition is in danger, or null: then the next look is some seconds later. Rejects where Kafka does not answer. */
  async check(): Promise<string | null> {
    const { elapsed = () => performance.now() } = this.#options;
    if (elapsed() < this.#fineUntil) return null;
    try {
      return await this.#options.connection.query((admin) => this.#look(admin));
    } catch (error) {
      if ((error as { readonly type?: unknown }).type !== 'UNKNOWN_TOPIC_OR_PARTITION') throw error;
      throw new Error(`Kafka has no topic ${this.#options.topic}; a start creates it, empty`, { cause: error });
    }
  }

  async #look(admin: Admin): Promise<string | null> {
    const { topic, groupId, others = [], now = Date.now, elapsed = () => performance.now() } = this.#options;
    const retentionMs = await retentionOf(admin, topic);
    const since = Math.floor(now() - DANGER * retentionMs);
    const found = retentionMs < 0 ? undefined : overdue(await positionsOf(admin, topic, [groupId, ...others], since));
    if (found === undefined) {
      const left = retentionMs < 0 ? Infinity : (1 - DANGER) * retentionMs;
      this.#fineUntil = elapsed() + Math.min(LOOK_EVERY_MS, Math.floor(OF_WHAT_IS_LEFT * left));
      return null;
    }
    return `Records of ${topic}, partition ${String(found.partition)}, are not stored yet and near the end of their retention.`;
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

async function positionsOf(admin: Admin, topic: string, groupIds: readonly string[], since: number): Promise<Position[]> {
  const [committed, young, bounds] = await Promise.all([
    committedByAny(admin, groupIds, topic),
    firstSince(admin, topic, since),
    boundsOf(admin, topic),
  ]);
  return [...bounds].map(([partition, { low }]) => ({
    partition,
    low,
    committed: committed.get(partition) ?? -1,
    young: young.get(partition) ?? 0,
  }));
}

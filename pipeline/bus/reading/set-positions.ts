import type { Kafka } from 'kafkajs';
import { clusterOf } from '../connection/kafkajs-cluster.ts';
import { withTimeout } from '../connection/with-timeout.ts';
import type { Commitment } from './group-positions.ts';

/** What a group is to have committed of a topic, by partition. */
export type GroupPositions = {
  readonly groupId: string;
  readonly topic: string;
  readonly positions: ReadonlyMap<number, Commitment>;
};

/** What is used of kafkajs' cluster and its brokers. */
type Cluster = {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  findGroupCoordinator(group: { readonly groupId: string }): Promise<{ offsetCommit(request: object): Promise<unknown> }>;
};

/** A commit of no member, which Kafka takes while the group has none. */
const OF_NO_MEMBER = { groupGenerationId: -1, memberId: '' };

/**
 * Commits for groups what they are to go on from, with the metadata. Kafka refuses it for a group that has members (UNKNOWN_MEMBER_ID): such a
 * group, and those behind it, keep what they had. Safe to repeat. Rejects where Kafka has not taken all within `deadlineMs`.
 */
export async function setPositions(kafka: Kafka, deadlineMs: number, groups: readonly GroupPositions[]): Promise<void> {
  const cluster = clusterOf(kafka) as Cluster;
  try {
    await withTimeout(deadlineMs, commitAll(cluster, groups));
  } finally {
    // not waited for: it may be what does not answer
    cluster.disconnect().catch(() => undefined);
  }
}

async function commitAll(cluster: Cluster, groups: readonly GroupPositions[]): Promise<void> {
  await cluster.connect();
  for (const { groupId, topic, positions } of groups) {
    if (positions.size === 0) continue;
    const coordinator = await cluster.findGroupCoordinator({ groupId });
    const partitions = [...positions].map(([partition, { offset, metadata }]) => ({ partition, offset: String(offset), metadata }));
    await coordinator.offsetCommit({ groupId, ...OF_NO_MEMBER, topics: [{ topic, partitions }] });
  }
}

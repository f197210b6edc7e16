import type { Admin } from 'kafkajs';

/** An offset that a group has committed; -1: none. */
export type Commitment = { readonly offset: number; readonly metadata: string };

/** What of kafkajs' admin the queries need. */
export type OffsetQueries = Pick<Admin, 'fetchOffsets' | 'fetchTopicOffsets' | 'fetchTopicOffsetsByTimestamp'>;

/** The offsets of a partition: the first record that Kafka still has, and the one that comes next. */
export type Bounds = { readonly low: number; readonly end: number };

/** Where each partition of a topic begins and ends. */
export async function boundsOf(admin: Pick<OffsetQueries, 'fetchTopicOffsets'>, topic: string): Promise<Map<number, Bounds>> {
  const offsets = await admin.fetchTopicOffsets(topic);
  return new Map(offsets.map(({ partition, low, high }) => [partition, { low: Number(low), end: Number(high) }]));
}

/** The first record of each partition that was appended at this time (milliseconds) or later; the end where there is none. */
export async function firstSince(
  admin: Pick<OffsetQueries, 'fetchTopicOffsetsByTimestamp'>,
  topic: string,
  time: number,
): Promise<Map<number, number>> {
  const offsets = await admin.fetchTopicOffsetsByTimestamp(topic, time);
  return new Map(offsets.map(({ partition, offset }) => [partition, Number(offset)]));
}

/** What a group has committed of a topic, by partition; offset -1, or no entry, where it has committed nothing. */
export async function committedBy(
  admin: Pick<OffsetQueries, 'fetchOffsets'>,
  groupId: string,
  topic: string,
): Promise<Map<number, Commitment>> {
  const [group] = await admin.fetchOffsets({ groupId, topics: [topic] });
  return new Map(
    group?.partitions.map(({ partition, offset, metadata }) => [partition, { offset: Number(offset), metadata: metadata ?? '' }]),
  );
}

/** Before which offset one of several groups at least has all of a topic, by partition; no entry where none has committed anything. */
export async function committedByAny(
  admin: Pick<OffsetQueries, 'fetchOffsets'>,
  groupIds: readonly string[],
  topic: string,
): Promise<Map<number, number>> {
  const furthest = new Map<number, number>();
  for (const committed of await Promise.all(groupIds.map((groupId) => committedBy(admin, groupId, topic))))
    for (const [partition, { offset }] of committed) furthest.set(partition, Math.max(offset, furthest.get(partition) ?? -1));
  return furthest;
}

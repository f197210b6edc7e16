/** Fetches without a consumer group, over kafkajs' cluster: what readers of whole partitions share. */
import type { KafkaMessage } from 'kafkajs';
import { readFetchAnswer, throttleOf, type FetchedRecords } from './fetch-answer.ts';
import { requestOf, type ProtocolRequest } from '../connection/kafkajs-protocol.ts';
import type { WantsTenant } from './tenant-records.ts';
import { withTimeout } from '../connection/with-timeout.ts';

/** What is used of kafkajs' cluster and its brokers. */
export type Cluster = {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  addTargetTopic(topic: string): Promise<void>;
  refreshMetadata(): Promise<void>;
  findTopicPartitionMetadata(topic: string): readonly { readonly partitionId: number }[];
  findLeaderForPartitions(topic: string, partitions: readonly number[]): Readonly<Record<string, readonly number[]>>;
  findBroker(options: { readonly nodeId: string }): Promise<Broker>;
  fetchTopicsOffset(topics: readonly object[]): Promise<readonly { readonly partitions: readonly PartitionOffset[] }[]>;
};
type PartitionOffset = { readonly partition: number; readonly offset: string };
export type Broker = {
  readonly connectionPool: { send(request: object): Promise<unknown> };
  lookupRequest(key: number, definitions: unknown): (options: object) => ProtocolRequest;
  fetch(request: object): Promise<{ readonly responses: readonly { readonly partitions: readonly Fetched[] }[] }>;
};
export type FetchedMessage = KafkaMessage & { readonly batchContext?: { readonly firstOffset: string; readonly lastOffsetDelta: number } };
export type Fetched = { readonly partition: number; readonly highWatermark: string; readonly messages: readonly FetchedMessage[] };

/** Kafka's answer, if it comes within `deadlineMs` and before the signal. The signal outlives the reading; it must not keep the answer. */
export async function answered<Answer>(request: Promise<Answer>, deadlineMs: number, signal: AbortSignal): Promise<Answer> {
  let end = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    end = (): void => {
      reject(signal.reason as Error);
    };
  });
  signal.addEventListener('abort', end, { once: true });
  try {
    return await withTimeout(deadlineMs, Promise.race([request, aborted]));
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/** Where these partitions of a topic begin, or which offset comes next at their ends. */
export async function offsetsOf(
  cluster: Cluster,
  topic: string,
  partitions: readonly number[],
  where: 'first' | 'end',
): Promise<Map<number, number>> {
  const wanted = partitions.map((partition) => ({ partition }));
  const topics = await cluster.fetchTopicsOffset([{ topic, partitions: wanted, fromBeginning: where === 'first' }]);
  return new Map(topics.flatMap((found) => found.partitions).map(({ partition, offset }) => [partition, Number(offset)]));
}

/** Fetches, and reads of the answer what is of the tenants that are wanted: kafkajs makes objects of all records and their headers. */
export async function fetchOfTenants(broker: Broker, request: object, wants: WantsTenant | null): Promise<readonly FetchedRecords[]> {
  const own = requestOf(broker, 'Fetch', request);
  const decode = async (answer: unknown): Promise<object> => ({
    clientSideThrottleTime: throttleOf(answer as Buffer),
    fetched: await readFetchAnswer(answer as Buffer, own.request.apiVersion, wants),
  });
  const parse = ({ fetched }: { readonly fetched: readonly FetchedRecords[] }): Promise<typeof fetched> => Promise.resolve(fetched);
  return (await broker.connectionPool.send({ ...own, response: { decode, parse }, logResponseError: false })) as FetchedRecords[];
}

/** The offset after the batch of a record, whose last records compaction may have removed. */
export const nextAfter = ({ offset, batchContext }: FetchedMessage): number =>
  batchContext === undefined ? Number(offset) + 1 : Number(batchContext.firstOffset) + batchContext.lastOffsetDelta + 1;

import { randomUUID } from 'node:crypto';
import type { Consumer, EachBatchPayload, Kafka, KafkaMessage } from 'kafkajs';

/** Offsets from `from` up to, and not including, `to`. */
export type Span = { readonly from: number; readonly to: number };

export type SpanReaderOptions = {
  readonly kafka: Kafka;
  readonly topic: string;
  /** What is read of each partition. */
  readonly spans: ReadonlyMap<number, Span>;
  /** Begins the name of the consumer group, of which this reader is the only member. */
  readonly groupPrefix: string;
  /** Awaited: no more is read than is taken. */
  readonly take: (partition: number, messages: readonly KafkaMessage[]) => Promise<void>;
};

/** So long nothing may come. Milliseconds. */
const STALL_MS = 60_000;
/** So long taking a batch may last. Milliseconds. */
const SESSION_MS = 300_000;

/**
 * Reads spans of a topic's partitions, each in the order of its offsets, and commits nothing. Records that Kafka's retention has
 * removed in the meantime are left out. Rejects when nothing comes for a minute, or when `take` does.
 */
export async function readSpans(options: SpanReaderOptions): Promise<void> {
  const next = new Map([...options.spans].filter(([, { from, to }]) => from < to).map(([partition, { from }]) => [partition, from]));
  if (next.size === 0) return;
  const consumer = options.kafka.consumer({
    groupId: `${options.groupPrefix}-${randomUUID()}`,
    sessionTimeout: SESSION_MS,
    rebalanceTimeout: 30_000,
    heartbeatInterval: 3000,
    maxWaitTimeInMs: 100,
    maxBytesPerPartition: 2 * 1024 * 1024,
    maxBytes: 4 * 1024 * 1024,
  });
  try {
    await consumer.connect();
    await consumer.subscribe({ topic: options.topic, fromBeginning: true });
    await run(consumer, options, next);
  } finally {
    await consumer.disconnect();
  }
}

function run(consumer: Consumer, { topic, spans, take }: SpanReaderOptions, next: Map<number, number>): Promise<void> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    // kafkajs goes on until it is disconnected, and may have a batch at hand
    let isSettled = false;
    const settle = (error?: Error): void => {
      isSettled = true;
      clearTimeout(timer);
      if (error === undefined) resolve();
      else reject(error);
    };
    const awaitMore = (): void => {
      clearTimeout(timer);
      if (isSettled) return;
      timer = setTimeout(() => settle(new Error(`Kafka gave no record of ${topic} for ${String(STALL_MS / 1000)} s.`)), STALL_MS);
    };
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
      for (const partition of payload.memberAssignment[topic] ?? []) {
        const offset = next.get(partition);
        if (offset === undefined) consumer.pause([{ topic, partitions: [partition] }]);
        else consumer.seek({ topic, partition, offset: String(offset) });
      }
    });
    consumer.on(consumer.events.CRASH, ({ payload }) => {
      if (!payload.restart) settle(payload.error);
    });
    const eachBatch = async ({ batch, pause }: EachBatchPayload): Promise<void> => {
      const { partition, messages } = batch;
      const [at, span] = [next.get(partition), spans.get(partition)];
      if (isSettled || at === undefined || span === undefined) return;
      clearTimeout(timer);
      try {
        await take(
          partition,
          messages.filter(({ offset }) => Number(offset) >= at && Number(offset) < span.to),
        );
      } catch (error) {
        settle(error instanceof Error ? error : new Error(String(error)));
        return;
      }
      const after = Number(batch.lastOffset()) + 1;
      if (after < span.to) next.set(partition, after);
      else {
        next.delete(partition);
        pause();
      }
      if (next.size === 0) settle();
      else awaitMore();
    };
    awaitMore();
    consumer.run({ autoCommit: false, eachBatch }).catch(settle);
  });
}

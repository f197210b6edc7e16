import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import type { Logger } from 'pino';
import { decodeBilled, type Billed } from './record.ts';
import { LOGS_TOPIC } from './topics.ts';

/** Records of one partition in the order of their offsets; those that count nothing are left out. */
export type LogBatch = {
  readonly partition: number;
  readonly records: readonly (Billed & { readonly offset: number })[];
  /** The offset after the last record that was read. */
  readonly next: number;
};

/** Where a reader begins, and who takes what it reads. */
export type LogTaker = {
  /** The offset from which a partition is to be read, null for its beginning; asked whenever the partition is assigned. */
  nextOf(partition: number): number | null;
  take(batch: LogBatch): void;
};

export type LogReaderOptions = {
  readonly kafka: Kafka;
  readonly log: Logger;
  readonly groupId: string;
  /** Called when the reader cannot go on: the process should end and be started again. */
  readonly onCrash: (error: Error) => void;
};

/**
 * Reads the headers of `logs.v1`, sharing its partitions with the other members of the consumer group. The group's offsets are not
 * used: where to begin is known to the taker. A member that was replaced may go on reading for a while, so a partition's records may
 * be given to two takers.
 */
export class LogReader {
  readonly #options: LogReaderOptions;
  readonly #consumer: Consumer;
  #running = false;
  #joined = false;

  constructor(options: LogReaderOptions) {
    this.#options = options;
    this.#consumer = options.kafka.consumer({
      groupId: options.groupId,
      sessionTimeout: 6000,
      rebalanceTimeout: 30_000,
      heartbeatInterval: 1500,
      // few large fetches cost less than many small ones, and nobody waits for this
      minBytes: 256 * 1024,
      maxWaitTimeInMs: 250,
      maxBytesPerPartition: 1024 * 1024,
      maxBytes: 4 * 1024 * 1024,
      retry: { retries: 10, initialRetryTime: 100, maxRetryTime: 2000 },
    });
  }

  /** True while this process is a member of the group. */
  get joined(): boolean {
    return this.#joined;
  }

  async start(taker: LogTaker): Promise<void> {
    const { events } = this.#consumer;
    this.#consumer.on(events.GROUP_JOIN, ({ payload }) => {
      this.#joined = true;
      for (const partition of payload.memberAssignment[LOGS_TOPIC] ?? []) {
        const next = taker.nextOf(partition);
        // without one it begins with the oldest record that there is
        if (next !== null) this.#consumer.seek({ topic: LOGS_TOPIC, partition, offset: String(next) });
      }
    });
    this.#consumer.on(events.CRASH, ({ payload }) => {
      this.#joined = false;
      this.#options.log.error({ err: payload.error, restart: payload.restart }, 'The reader of the log crashed.');
      if (!payload.restart && this.#running) this.#options.onCrash(payload.error);
    });
    await this.#consumer.connect();
    await this.#consumer.subscribe({ topic: LOGS_TOPIC, fromBeginning: true });
    this.#running = true;
    await this.#consumer.run({
      autoCommit: false,
      eachBatch: (payload) => {
        taker.take(batchOf(payload));
        return Promise.resolve();
      },
    });
  }

  async stop(): Promise<void> {
    this.#running = false;
    await this.#consumer.disconnect();
  }
}

function batchOf({ batch }: EachBatchPayload): LogBatch {
  const records: (Billed & { offset: number })[] = [];
  for (const message of batch.messages) {
    const billed = decodeBilled(message);
    if (billed !== null) records.push({ ...billed, offset: Number(message.offset) });
  }
  return { partition: batch.partition, records, next: Number(batch.lastOffset()) + 1 };
}

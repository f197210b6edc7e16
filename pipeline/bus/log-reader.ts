import type { EachBatchPayload, Kafka } from 'kafkajs';
import type { Logger } from 'pino';
import { GroupMember } from './group-member.ts';
import { decodeBilled, type Billed } from './record.ts';

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
  readonly topic: string;
  /** Called when the reader cannot go on: the process should end and be started again. */
  readonly onCrash: (error: Error) => void;
};

/**
 * Reads the headers of a signal's topic, sharing its partitions with the other members of the consumer group. The group's offsets are not
 * used: where to begin is known to the taker. A member that was replaced may go on reading for a while, so a partition's records may
 * be given to two takers.
 */
export class LogReader {
  readonly #member: GroupMember;
  #taker: LogTaker | null = null;

  constructor(options: LogReaderOptions) {
    this.#member = new GroupMember({
      ...options,
      // few large fetches cost less than many small ones, and what is counted here is counted where it is taken too
      fetch: { minBytes: 256 * 1024, maxWaitTimeInMs: 1000, maxBytesPerPartition: 1024 * 1024, maxBytes: 4 * 1024 * 1024 },
      onAssigned: (partitions) => {
        for (const partition of partitions) {
          const next = this.#taker?.nextOf(partition) ?? null;
          // without one it begins with the oldest record that there is
          if (next !== null) this.#member.seek(partition, next);
        }
      },
      onBatch: (payload) => {
        this.#taker?.take(batchOf(payload));
        payload.resolveOffset(payload.batch.lastOffset());
        return Promise.resolve();
      },
    });
  }

  /** True while this process is a member of the group. */
  get joined(): boolean {
    return this.#member.joined;
  }

  async start(taker: LogTaker): Promise<void> {
    this.#taker = taker;
    await this.#member.start();
  }

  stop(): Promise<void> {
    return this.#member.leave();
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

import type { LogReader, LogTaker } from '../../pipeline/bus/log-reader.ts';

export type FakeRecord = { readonly tenantId: number; readonly bytes: number; readonly timestamp: number };

/** The log in memory: the records of each partition by offset. */
export class FakeLogTopic {
  readonly partitions: FakeRecord[][];

  constructor(partitions: number) {
    this.partitions = Array.from({ length: partitions }, () => []);
  }

  /** Appends a record and gives its offset. */
  append(partition: number, record: FakeRecord): number {
    return (this.partitions[partition]?.push(record) ?? 0) - 1;
  }
}

/** A reader that is given partitions, and reads, when it is told to. */
export class FakeLogReader implements Pick<LogReader, 'start' | 'stop'> {
  readonly #topic: FakeLogTopic;
  readonly #positions = new Map<number, number>();
  #taker: LogTaker | null = null;

  constructor(topic: FakeLogTopic) {
    this.#topic = topic;
  }

  start(taker: LogTaker): Promise<void> {
    this.#taker = taker;
    return Promise.resolve();
  }

  stop(): Promise<void> {
    this.#taker = null;
    return Promise.resolve();
  }

  assign(partition: number): void {
    if (this.#taker !== null) this.#positions.set(partition, this.#taker.nextOf(partition) ?? 0);
  }

  /** Gives at most so many records of a partition that was assigned; gives whether there were any. */
  read(partition: number, count: number): boolean {
    const from = this.#positions.get(partition);
    const records = from === undefined ? [] : (this.#topic.partitions[partition]?.slice(from, from + count) ?? []);
    if (from === undefined || this.#taker === null || records.length === 0) return false;
    const next = from + records.length;
    this.#positions.set(partition, next);
    this.#taker.take({ partition, next, records: records.map((record, index) => ({ ...record, offset: from + index })) });
    return true;
  }
}

import type { CompactedLog, CompactedRecord } from '../../pipeline/core/compacted-log.ts';

/** A compacted topic in memory, shared by the logs of several nodes. Records reach the followers a turn of the event loop later. */
export class FakeTopic {
  records: CompactedRecord[] = [];
  /** Kafka is out of reach: reads and appends reject, followers get nothing. */
  down = false;
  next = 0n;
  readonly logs = new Set<FakeLog>();

  append(key: string, value: string | null): bigint {
    const record = { offset: this.next++, key, value };
    this.records.push(record);
    setImmediate(() => this.deliver());
    return record.offset;
  }

  deliver(): void {
    if (!this.down) for (const log of this.logs) log.deliver();
  }

  /** What compaction leaves: the last record of each key. */
  compact(): void {
    this.records = this.records.filter((record) => !this.records.some((later) => later.key === record.key && later.offset > record.offset));
  }
}

/** One node's view of the topic. */
export class FakeLog implements CompactedLog {
  readonly topic: FakeTopic;
  /** Called before each append; a test lets another node be faster here. */
  beforeAppend: (key: string) => void = () => undefined;
  stopped = false;
  /** How many records were appended at a time. */
  readonly requests: number[] = [];
  #position = 0n;
  #follower: ((record: CompactedRecord) => void) | null = null;

  constructor(topic: FakeTopic) {
    this.topic = topic;
  }

  readAll(onRecord: (record: CompactedRecord) => void): Promise<void> {
    if (this.topic.down) return Promise.reject(new Error('Kafka is down.'));
    for (const record of this.topic.records) onRecord(record);
    this.#position = this.topic.next;
    return Promise.resolve();
  }

  follow(onRecord: (record: CompactedRecord) => void): Promise<void> {
    this.#follower = onRecord;
    this.topic.logs.add(this);
    return Promise.resolve();
  }

  append(key: string, value: string | null): Promise<bigint> {
    if (this.topic.down || this.stopped) return Promise.reject(new Error('Kafka is down.'));
    this.beforeAppend(key);
    return Promise.resolve(this.topic.append(key, value));
  }

  async appendAll(records: readonly Omit<CompactedRecord, 'offset'>[]): Promise<void> {
    this.requests.push(records.length);
    for (const { key, value } of records) await this.append(key, value);
  }

  stop(): Promise<void> {
    this.stopped = true;
    this.topic.logs.delete(this);
    return Promise.resolve();
  }

  deliver(): void {
    for (const record of this.topic.records) {
      if (record.offset < this.#position) continue;
      this.#position = record.offset + 1n;
      this.#follower?.(record);
    }
  }
}

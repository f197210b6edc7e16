import type { HistoryRecord } from '../../pipeline/bus/state/record-history.ts';

/** A topic in memory that is read from some time on. */
export class FakeHistory {
  records: HistoryRecord[] = [];
  /** The appends, counted from 1, that Kafka does not take. */
  readonly refused = new Set<number>();
  #appends = 0;
  #now = 0;

  append(key: string, value: string): Promise<void> {
    this.#appends += 1;
    if (this.refused.has(this.#appends)) return Promise.reject(new Error('Kafka is down.'));
    this.records.push({ key, value, at: ++this.#now });
    return Promise.resolve();
  }

  read(from: number, take: (records: readonly HistoryRecord[]) => boolean): Promise<boolean> {
    for (const record of this.records) if (record.at >= from && !take([record])) return Promise.resolve(false);
    return Promise.resolve(true);
  }

  /** What compaction leaves: the last record of each key. */
  compact(): void {
    this.records = this.records.filter(({ key }, at) => !this.records.slice(at + 1).some((later) => later.key === key));
  }
}

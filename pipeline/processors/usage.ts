import type { LogBatch } from '../bus/log-reader.ts';
import { encodeSnapshot, parseUsageRecord, partitionKey, type UsageSnapshot } from '../bus/usage-records.ts';
import { addCount, dayOf, type DayCounts } from '../core/day-counts.ts';
import type { Processor } from './processor.ts';

/** Days that are kept: today, and the two before it for people to look at. */
const DAYS = 3;
const PARTITION = partitionKey('');

/** Counts the billable bytes of each tenant by the UTC day of the append time (docs/adr/0006-usage.md). */
export const usage: Processor<UsageSnapshot> = {
  name: 'usage',
  empty: () => ({ next: 0, days: new Map() }),

  fold({ next, days }: UsageSnapshot, batch: LogBatch): UsageSnapshot {
    for (const { offset, timestamp, tenantId, bytes } of batch.records) {
      if (offset < next) continue;
      const day = dayOf(timestamp);
      touch(days, day);
      addCount(days, day, tenantId, bytes);
    }
    return { next: Math.max(next, batch.next), days };
  },

  encode: (partition, state) => ({ key: partitionKey(partition), value: encodeSnapshot(state) }),

  decode(key, value) {
    const record = key.startsWith(PARTITION) ? parseUsageRecord(key, value) : null;
    return record?.kind === 'partition' ? { partition: record.partition, state: record.snapshot } : null;
  },
};

/** Makes a day the latest one, in the order of the log and not of the calendar, which a broker's clock may leave; the oldest one goes. */
function touch(days: DayCounts, day: number): void {
  const tenants = days.get(day) ?? new Map<number, number>();
  days.delete(day);
  days.set(day, tenants);
  const [oldest] = days.keys();
  if (days.size > DAYS && oldest !== undefined) days.delete(oldest);
}

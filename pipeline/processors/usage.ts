import type { AbsoluteRecord } from '../bus/producer/absolute-record.ts';
import { USAGE_TOPIC } from '../bus/records/topics.ts';
import {
  DELTA_KEYS,
  deltaKey,
  encodeDelta,
  encodeSnapshot,
  parseSnapshot,
  partitionKey,
  type UsageSnapshot,
} from '../bus/state/usage-records.ts';
import { addCount, countOf, dayOf, type DayCounts } from '../core/day-counts.ts';
import type { BilledInput } from './base/input.ts';
import type { Fold } from './base/processor.ts';

/** Days that are kept: today, and the two before it for people to look at. */
const DAYS = 3;
/** The number of deltas that are published between two snapshots. */
const DELTAS = DELTA_KEYS / 2 - 4;

/** The bytes of a partition, and what of it was published; the latter is in no snapshot, so that a new owner publishes all of it. */
export type UsageState = {
  readonly days: DayCounts;
  /** Tenants that have more than was published, by day. */
  readonly changed: Map<number, Set<number>>;
  /** The offset up to which it was published; null: nothing was. */
  publishedTo: number | null;
  /** How many records were published. */
  published: number;
};

const newState = (days: DayCounts): UsageState => ({ days, changed: new Map(), publishedTo: null, published: 0 });

/**
 * Counts the billable bytes of each tenant on a topic by the UTC day of the append time (docs/adr/0006-usage.md). `name`: of the fold, which
 * names the topic of its state.
 */
export const usageOf = (topic: string, name: string): Fold<UsageState, BilledInput> => ({
  name,
  init: () => newState(new Map()),

  fold({ days, changed }: UsageState, input: BilledInput): readonly AbsoluteRecord[] {
    const { tenantId = 0, bytes = 0 } = input;
    if (bytes === 0) return [];
    const day = dayOf(input.appendedAt);
    touch(days, day);
    addCount(days, day, tenantId, bytes);
    const tenants = changed.get(day);
    if (tenants === undefined) changed.set(day, new Set([tenantId]));
    else tenants.add(tenantId);
    return [];
  },

  news(state: UsageState, partition: number, next: number): readonly AbsoluteRecord[] {
    if (next === (state.publishedTo ?? 0)) return [];
    const isWhole = state.publishedTo === null || state.published % DELTAS === 0;
    const record = isWhole
      ? { key: partitionKey({ topic, partition }), value: encodeSnapshot({ next, days: state.days }) }
      : {
          key: deltaKey({ topic, partition }, state.published),
          value: encodeDelta({ since: state.publishedTo ?? 0, next, days: changedDays(state) }),
        };
    state.publishedTo = next;
    state.published += 1;
    state.changed.clear();
    return [{ topic: USAGE_TOPIC, partition: 0, headers: {}, key: record.key, value: Buffer.from(record.value) }];
  },

  // an offset is not known here, and not needed
  snapshot: ({ days }) => Buffer.from(encodeSnapshot({ next: 0, days })),

  restore(bytes: Buffer): UsageState | null {
    const snapshot = parseSnapshot(bytes.toString());
    return snapshot === null ? null : newState(snapshot.days);
  },
});

/** The days that are still kept, with what was not published of them. */
function changedDays({ days, changed }: UsageState): UsageSnapshot['days'] {
  const kept = [...changed].filter(([day]) => days.has(day));
  return new Map(kept.map(([day, tenants]) => [day, new Map([...tenants].map((tenantId) => [tenantId, countOf(days, day, tenantId)]))]));
}

/** Makes a day the latest one, in the order of the log and not of the calendar, which a broker's clock may leave; the oldest one goes. */
function touch(days: DayCounts, day: number): void {
  const tenants = days.get(day) ?? new Map<number, number>();
  days.delete(day);
  days.set(day, tenants);
  const [oldest] = days.keys();
  if (days.size > DAYS && oldest !== undefined) days.delete(oldest);
}

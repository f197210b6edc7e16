import type { SentRecord } from '../../pipeline/bus/producer/sent-record.ts';
import { parseUsageRecord, type GuardReport, type NodeUsage, type UsageSegment } from '../../pipeline/bus/state/usage-records.ts';
import type { CompactedRecord } from '../../pipeline/core/compacted-log.ts';
import { RecentRate } from './recent-rate.ts';
import { CallCounts } from './shared-calls.ts';
import { TopicUsage } from './topic-usage.ts';

/** How long a guard's last report counts, and how long a process waits for its first report. */
const GUARD_SILENCE_MS = 30_000;
/** A node that was silent for this long, with nothing left to count, is forgotten. */
const NODE_SILENCE_MS = 600_000;

/**
 * What one node knows of the volume of all tenants: `usage.v1` folded, and what it has sent itself. The volume of a day is the sum over all
 * topics; what is charged to buckets is of each topic. Times are monotonic milliseconds.
 */
export class UsageView {
  readonly #id: string;
  readonly #startedAt: number;
  readonly #topics = new Map<string, TopicUsage>();
  /** The last set of charges of each other node, and when it came. */
  readonly #nodes = new Map<string, { readonly seq: number; readonly receivedAt: number }>();
  readonly #rates = new Map<string, RecentRate>();
  /** Calls that have a rate a minute. */
  readonly calls: CallCounts;
  readonly #guards = new Map<string, GuardReport & { readonly receivedAt: number }>();

  /** `id`: under which this node itself publishes. */
  constructor(id: string, now: () => number) {
    this.#id = id;
    this.#startedAt = now();
    this.calls = new CallCounts(now);
  }

  /** Takes a record of the topic; `live` is false for what was there when this process came, of which a guard's word is too old. */
  fold({ key, value }: Pick<CompactedRecord, 'key' | 'value'>, live: boolean, now: number): void {
    const record = parseUsageRecord(key, value);
    if (record?.kind === 'partition') this.of(record.topic).foldSnapshot(record.partition, record.snapshot);
    else if (record?.kind === 'delta') this.of(record.topic).foldDelta(record.partition, record.delta);
    else if (record?.kind === 'node' && record.id !== this.#id) this.#foldNode(record.id, record.usage, live, now);
    else if (record?.kind === 'guard' && live) this.#guards.set(record.id, { ...record, receivedAt: now });
  }

  /** What is known of one topic. */
  of(topic: string): TopicUsage {
    let known = this.#topics.get(topic);
    if (known === undefined) {
      known = new TopicUsage(topic);
      this.#topics.set(topic, known);
    }
    return known;
  }

  /** What tenants are charged on a topic now, by all nodes. */
  rateOf(topic: string): RecentRate {
    const known = this.#rates.get(topic) ?? new RecentRate();
    this.#rates.set(topic, known);
    return known;
  }

  /** Notes what this node has had acknowledged on a topic; true where some of it counts and is in no snapshot yet. */
  sent(topic: string, records: readonly SentRecord[]): boolean {
    return this.of(topic).sent(records);
  }

  /** What the others have to know of it. */
  unsettled(): UsageSegment[] {
    return [...this.#topics.values()].flatMap((topic) => topic.unsettled());
  }

  /** Of all topics. */
  bytesOf(tenantId: number, day: number): number {
    let bytes = 0;
    for (const topic of this.#topics.values()) bytes += topic.bytesOf(tenantId, day);
    return bytes;
  }

  /** The part of `bytesOf` that was acknowledged and is in no snapshot yet. */
  pendingBytesOf(tenantId: number, day: number): number {
    let bytes = 0;
    for (const topic of this.#topics.values()) bytes += topic.pendingBytesOf(tenantId, day);
    return bytes;
  }

  /** Why a topic must not take more; null while it may. */
  logFull(topic: string, now: number): string | null {
    let hasReported = false;
    for (const [id, { full, topics, receivedAt }] of this.#guards) {
      const reason = full ?? topics[topic];
      if (now - receivedAt > GUARD_SILENCE_MS) this.#guards.delete(id);
      else if (reason !== undefined) return reason;
      else hasReported = true;
    }
    return hasReported || now - this.#startedAt <= GUARD_SILENCE_MS ? null : 'The log guard has not reported for too long.';
  }

  /** Forgets nodes that no longer exist. */
  forget(now: number): void {
    for (const [id, { receivedAt }] of this.#nodes)
      if (now - receivedAt > NODE_SILENCE_MS && ![...this.#topics.values()].some((topic) => topic.counts(id))) this.#nodes.delete(id);
  }

  #foldNode(id: string, { seq, charged, calls, unreflected }: NodeUsage, live: boolean, now: number): void {
    const before = this.#nodes.get(id)?.seq ?? 0;
    if (seq > before)
      for (const [topic, tenants] of charged) {
        this.of(topic).charge(tenants);
        // what was there when this process came may be of long ago
        if (live) for (const [tenantId, count] of tenants) this.rateOf(topic).add(tenantId, count, now);
      }
    if (seq > before && live) this.calls.fold(calls);
    for (const { topic } of unreflected) this.of(topic);
    for (const [name, topic] of this.#topics)
      topic.foldNode(
        id,
        unreflected.filter((segment) => segment.topic === name),
      );
    this.#nodes.set(id, { seq: Math.max(seq, before), receivedAt: now });
  }
}

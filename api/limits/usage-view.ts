import type { SentRecord } from '../../pipeline/bus/producer/sent-record.ts';
import {
  parseUsageRecord,
  type NodeUsage,
  type UsageDelta,
  type UsageSegment,
  type UsageSnapshot,
} from '../../pipeline/bus/state/usage-records.ts';
import type { CompactedRecord } from '../../pipeline/core/compacted-log.ts';
import { addCount, addCounts, countOf, type DayCounts } from '../../pipeline/core/day-counts.ts';
import { Unsettled } from './unsettled.ts';

/** How long a guard's last report counts, and how long a process waits for its first report. */
const GUARD_SILENCE_MS = 30_000;
/** A node that was silent for this long, with nothing left to count, is forgotten. */
const NODE_SILENCE_MS = 600_000;

type Node = { readonly seq: number; readonly segments: readonly UsageSegment[]; readonly receivedAt: number };

/** What one node knows of the volume of all tenants: `usage.v1` folded, and what it has sent itself. Times are monotonic milliseconds. */
export class UsageView {
  readonly #id: string;
  readonly #startedAt: number;
  readonly #snapshots = new Map<number, UsageSnapshot>();
  /** The sums of all snapshots, of what this node has sent beyond them, and of what the others have. */
  readonly #settled: DayCounts = new Map();
  readonly #own = new Unsettled();
  readonly #others: DayCounts = new Map();
  readonly #nodes = new Map<string, Node>();
  readonly #entries = new Map<number, number>();
  #entriesTotal = 0;
  readonly #guards = new Map<string, { readonly full: string | null; readonly receivedAt: number }>();

  /** `id`: under which this node itself publishes. */
  constructor(id: string, now: number) {
    this.#id = id;
    this.#startedAt = now;
  }

  /** Takes a record of the topic; `live` is false for what was there when this process came, of which a guard's word is too old. */
  fold({ key, value }: Pick<CompactedRecord, 'key' | 'value'>, live: boolean, now: number): void {
    const record = parseUsageRecord(key, value);
    if (record?.kind === 'partition') this.#foldSnapshot(record.partition, record.snapshot);
    else if (record?.kind === 'delta') this.#foldDelta(record.partition, record.delta);
    else if (record?.kind === 'node' && record.id !== this.#id) this.#foldNode(record.id, record.usage, now);
    else if (record?.kind === 'guard' && live) this.#guards.set(record.id, { full: record.full, receivedAt: now });
  }

  /** Notes what this node has had acknowledged; true where some of it counts and is in no snapshot yet. */
  sent(records: readonly SentRecord[]): boolean {
    const open = records.filter(({ partition, offset, bytes }) => bytes > 0 && offset >= this.#nextOf(partition));
    for (const record of open) this.#own.add(record);
    return open.length > 0;
  }

  /** What the others have to know of it. */
  unsettled(): UsageSegment[] {
    return this.#own.joined();
  }

  bytesOf(tenantId: number, day: number): number {
    return countOf(this.#settled, day, tenantId) + this.pendingBytesOf(tenantId, day);
  }

  /** The part of `bytesOf` that was acknowledged and is in no snapshot yet. */
  pendingBytesOf(tenantId: number, day: number): number {
    return countOf(this.#own.counts, day, tenantId) + countOf(this.#others, day, tenantId);
  }

  othersEntries(tenantId: number): number {
    return this.#entries.get(tenantId) ?? 0;
  }

  othersTotal(): number {
    return this.#entriesTotal;
  }

  logFull(now: number): string | null {
    let hasReported = false;
    for (const [id, { full, receivedAt }] of this.#guards) {
      if (now - receivedAt > GUARD_SILENCE_MS) this.#guards.delete(id);
      else if (full !== null) return full;
      else hasReported = true;
    }
    return hasReported || now - this.#startedAt <= GUARD_SILENCE_MS ? null : 'The log guard has not reported for too long.';
  }

  /** Forgets nodes that no longer exist. */
  forget(now: number): void {
    for (const [id, { segments, receivedAt }] of this.#nodes)
      if (segments.length === 0 && now - receivedAt > NODE_SILENCE_MS) this.#nodes.delete(id);
  }

  #nextOf(partition: number): number {
    return this.#snapshots.get(partition)?.next ?? 0;
  }

  /** A snapshot that is not further than the one before comes from a process that was replaced. */
  #foldSnapshot(partition: number, snapshot: UsageSnapshot): void {
    const before = this.#snapshots.get(partition);
    if (before !== undefined && snapshot.next <= before.next) return;
    this.#snapshots.set(partition, snapshot);
    if (before !== undefined) addCounts(this.#settled, before.days, -1);
    addCounts(this.#settled, snapshot.days);
    this.#settle(partition, snapshot.next);
  }

  /** Where a delta before this one is missing, the next snapshot has it; unsettled usage counts until then. */
  #foldDelta(partition: number, { since, next, days }: UsageDelta): void {
    const before = this.#snapshots.get(partition);
    if (before === undefined || since > before.next || next <= before.next) return;
    for (const [day, tenants] of days)
      for (const [tenantId, bytes] of tenants) {
        const more = bytes - countOf(before.days, day, tenantId);
        addCount(before.days, day, tenantId, more);
        addCount(this.#settled, day, tenantId, more);
      }
    this.#snapshots.set(partition, { next, days: before.days });
    this.#settle(partition, next);
  }

  /** Forgets what was acknowledged before this offset. */
  #settle(partition: number, next: number): void {
    this.#own.settle(partition, next);
    for (const [id, node] of this.#nodes) this.#nodes.set(id, { ...node, segments: this.#open(node.segments, node.segments) });
  }

  #foldNode(id: string, { seq, entries, unreflected }: NodeUsage, now: number): void {
    const before = this.#nodes.get(id) ?? { seq: 0, segments: [] };
    if (seq > before.seq) {
      for (const [tenantId, count] of entries) {
        this.#entries.set(tenantId, this.othersEntries(tenantId) + count);
        this.#entriesTotal += count;
      }
    }
    this.#nodes.set(id, { seq: Math.max(seq, before.seq), segments: this.#open(before.segments, unreflected), receivedAt: now });
  }

  /** Counts `after` in place of `before`, without what is in a snapshot. */
  #open(before: readonly UsageSegment[], after: readonly UsageSegment[]): readonly UsageSegment[] {
    const open = after.filter(({ partition, last }) => last >= this.#nextOf(partition));
    if (before === after && open.length === after.length) return before;
    for (const { days } of before) addCounts(this.#others, days, -1);
    for (const { days } of open) addCounts(this.#others, days);
    return open;
  }
}

import type { SentRecord } from '../../pipeline/bus/producer/sent-record.ts';
import type { UsageDelta, UsageSegment, UsageSnapshot } from '../../pipeline/bus/state/usage-records.ts';
import { addCount, addCounts, countOf, type DayCounts } from '../../pipeline/core/day-counts.ts';
import { Unsettled } from './unsettled.ts';

/** What one node knows of the volume of all tenants on one topic: the snapshots of its partitions, and what was sent beyond them. */
export class TopicUsage {
  readonly #topic: string;
  readonly #snapshots = new Map<number, UsageSnapshot>();
  /** The sums of all snapshots, of what this node has sent beyond them, and of what the others have. */
  readonly #settled: DayCounts = new Map();
  readonly #own = new Unsettled();
  readonly #others: DayCounts = new Map();
  /** What each other node has sent and no snapshot has. */
  readonly #nodes = new Map<string, readonly UsageSegment[]>();
  readonly #charged = new Map<number, number>();
  /** What the other nodes have charged over all tenants. */
  othersTotal = 0;

  constructor(topic: string) {
    this.#topic = topic;
  }

  /** Notes what this node has had acknowledged; true where some of it counts and is in no snapshot yet. */
  sent(records: readonly SentRecord[]): boolean {
    const open = records.filter(({ partition, offset, bytes }) => bytes > 0 && offset >= this.#nextOf(partition));
    for (const record of open) this.#own.add(record);
    return open.length > 0;
  }

  /** What the others have to know of it. */
  unsettled(): UsageSegment[] {
    return this.#own.joined().map((segment) => ({ topic: this.#topic, ...segment }));
  }

  bytesOf(tenantId: number, day: number): number {
    return countOf(this.#settled, day, tenantId) + this.pendingBytesOf(tenantId, day);
  }

  /** The part of `bytesOf` that was acknowledged and is in no snapshot yet. */
  pendingBytesOf(tenantId: number, day: number): number {
    return countOf(this.#own.counts, day, tenantId) + countOf(this.#others, day, tenantId);
  }

  /** What the other nodes have charged to a tenant, in the unit of the signal. */
  othersCharged(tenantId: number): number {
    return this.#charged.get(tenantId) ?? 0;
  }

  /** Adds a set of charges of another node. */
  charge(tenants: ReadonlyMap<number, number>): void {
    for (const [tenantId, count] of tenants) {
      this.#charged.set(tenantId, this.othersCharged(tenantId) + count);
      this.othersTotal += count;
    }
  }

  /** A snapshot that is not further than the one before comes from a process that was replaced. */
  foldSnapshot(partition: number, snapshot: UsageSnapshot): void {
    const before = this.#snapshots.get(partition);
    if (before !== undefined && snapshot.next <= before.next) return;
    this.#snapshots.set(partition, snapshot);
    if (before !== undefined) addCounts(this.#settled, before.days, -1);
    addCounts(this.#settled, snapshot.days);
    this.#settle(partition, snapshot.next);
  }

  /** Where a delta before this one is missing, the next snapshot has it; unsettled usage counts until then. */
  foldDelta(partition: number, { since, next, days }: UsageDelta): void {
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

  /** Takes what another node has sent and had in no snapshot, in place of what it said before. */
  foldNode(id: string, unreflected: readonly UsageSegment[]): void {
    const open = this.#open(this.#nodes.get(id) ?? [], unreflected);
    if (open.length > 0) this.#nodes.set(id, open);
    else this.#nodes.delete(id);
  }

  /** Whether something counts that this node has sent. */
  counts(id: string): boolean {
    return this.#nodes.has(id);
  }

  #nextOf(partition: number): number {
    return this.#snapshots.get(partition)?.next ?? 0;
  }

  /** Forgets what was acknowledged before this offset. */
  #settle(partition: number, next: number): void {
    this.#own.settle(partition, next);
    for (const [id, segments] of this.#nodes) this.foldNode(id, segments);
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

import { OVERFLOW_FINGERPRINT } from '../../clusterer/clusterer.ts';
import { COUNTS_ALL, COUNTS_CLOSED, COUNTS_STREAM, type PatternCount } from '../../counters/pattern-counts.ts';
import { GroupTable } from '../group-table.ts';
import { groupsByTenant, largestTenants } from '../volume/tenant-shares.ts';
import { SEVERITY_UNIT, type RecordPatterns } from './record-patterns.ts';

const MINUTE_SECONDS = 60;
const MINUTE_MS = 60_000;
const SCOPE_UNIT = 65_536;
/** A tenant that has less of what a segment may hold is told apart, whatever others have. */
const EXCESSIVE_SHARE = 1 / 64;
const OVERFLOW_HIGH = parseInt(OVERFLOW_FINGERPRINT.slice(0, 8), 16);
const OVERFLOW_LOW = parseInt(OVERFLOW_FINGERPRINT.slice(8, 16), 16);

/** A group of a segment, and what is counted of it. */
type Group = {
  readonly tenant: number;
  readonly retentionDays: number;
  readonly scope: number;
  readonly patternHigh: number;
  readonly patternLow: number;
  readonly streamHigh: number;
  readonly streamLow: number;
  readonly time: number;
  readonly severity: number;
  readonly entries: number;
  readonly first: number;
  readonly last: number;
};

/** Where a segment ends, and of which partition and run it is. */
export type SegmentEnd = { readonly partition: number; readonly until: number; readonly closedAt: number; readonly run: number };

/** What a segment of a partition has counted so far, by spans of so many minutes. */
export class PatternSegment {
  /** The offset of its first record with entries, and when that was appended, milliseconds. */
  readonly from: number;
  readonly since: number;
  readonly minutes: number;
  /** Tenants that have had too many groups here: their streams are not told apart, and then not their patterns. */
  readonly alone = new Set<number>();
  readonly folded = new Set<number>();
  #patterns = new GroupTable();
  #groups = new GroupTable();
  #first: number[] = [];
  #last: number[] = [];

  constructor(from: number, since: number, minutes: number) {
    this.from = from;
    this.since = since;
    this.minutes = minutes;
  }

  get size(): number {
    return this.#groups.size;
  }

  /** Adds what was counted of a record. */
  add({ patterns, groups, first, last }: RecordPatterns, tenant: number, retentionDays: number): void {
    for (let group = 0; group < groups.size; group++) {
      const level = groups.level(group);
      const pattern = Math.floor(level / SEVERITY_UNIT);
      this.put({
        ...{ tenant, retentionDays, scope: COUNTS_STREAM },
        ...{ patternHigh: patterns.high(pattern), patternLow: patterns.low(pattern) },
        ...{ streamHigh: groups.high(group), streamLow: groups.low(group) },
        ...{ time: Math.floor(groups.time(group) / this.minutes), severity: level % SEVERITY_UNIT },
        ...{ entries: groups.entries(group), first: first[group] as number, last: last[group] as number },
      });
    }
  }

  /** Adds to a group, as far as its tenant's groups are told apart here. */
  put(given: Group): void {
    const group = this.#toldApart(given);
    const pattern = this.#patterns.at(group.tenant, 0, group.patternHigh, group.patternLow, 0, 0);
    const kind = group.retentionDays + SCOPE_UNIT * group.scope;
    const at = this.#groups.at(group.tenant, kind, group.streamHigh, group.streamLow, group.time, pattern * SEVERITY_UNIT + group.severity);
    const isNew = this.#groups.entries(at) === 0;
    this.#first[at] = isNew ? group.first : Math.min(this.#first[at] as number, group.first);
    this.#last[at] = isNew ? group.last : Math.max(this.#last[at] as number, group.last);
    this.#groups.add(at, group.entries, 0);
  }

  #toldApart(group: Group): Group {
    if (this.folded.has(group.tenant)) {
      const time = Math.floor(this.since / MINUTE_MS / this.minutes);
      const overflow = { patternHigh: OVERFLOW_HIGH, patternLow: OVERFLOW_LOW, severity: 0, time };
      return { ...group, ...overflow, scope: COUNTS_ALL, streamHigh: 0, streamLow: 0 };
    }
    if (!this.alone.has(group.tenant)) return group;
    return { ...group, scope: COUNTS_ALL, streamHigh: 0, streamLow: 0 };
  }

  /**
   * Where there are too many groups, those who have most of them lose what makes them many: first their streams, then their patterns, which are
   * counted as the overflow from then on. So the counts of others are as they would be without them.
   */
  limit(maxGroups: number): void {
    for (const left of [this.alone, this.folded]) {
      const byTenant = groupsByTenant(this.#groups, () => true);
      const largest = largestTenants({ total: this.size, most: maxGroups, byTenant }, EXCESSIVE_SHARE);
      if (largest.length === 0) return;
      for (const tenant of largest) left.add(tenant);
      this.#regroup();
    }
  }

  #regroup(): void {
    const before = [...this.groups()];
    [this.#patterns, this.#groups, this.#first, this.#last] = [new GroupTable(), new GroupTable(), [], []];
    for (const group of before) this.put(group);
  }

  /** Its groups, in the order in which they were first counted. */
  *groups(): Generator<Group> {
    const [groups, patterns] = [this.#groups, this.#patterns];
    for (let at = 0; at < groups.size; at++) {
      const [kind, level] = [groups.kind(at), groups.level(at)];
      const pattern = Math.floor(level / SEVERITY_UNIT);
      yield {
        ...{ tenant: groups.tenant(at), retentionDays: kind % SCOPE_UNIT, scope: Math.floor(kind / SCOPE_UNIT) },
        ...{ patternHigh: patterns.high(pattern), patternLow: patterns.low(pattern) },
        ...{ streamHigh: groups.high(at), streamLow: groups.low(at), time: groups.time(at), severity: level % SEVERITY_UNIT },
        ...{ entries: groups.entries(at), first: this.#first[at] as number, last: this.#last[at] as number },
      };
    }
  }

  /** Its rows, and behind those of all tenants, for each of these, that it is closed. */
  rows({ partition, until, closedAt, run }: SegmentEnd): PatternCount[] {
    const span = this.minutes * MINUTE_SECONDS;
    const key = { span, partition, segment: this.from, until, run };
    const rows: PatternCount[] = [];
    const tenants = new Map<number, number>();
    for (const { tenant: tenantId, retentionDays, scope, time, severity, entries, first, last, ...ids } of this.groups()) {
      const [pattern, streamId] = [idOf(ids.patternHigh, ids.patternLow), idOf(ids.streamHigh, ids.streamLow)];
      rows.push({ ...key, tenantId, retentionDays, scope, time: time * span, pattern, streamId, severity, entries, first, last });
      tenants.set(tenantId, longer(tenants.get(tenantId) ?? retentionDays, retentionDays));
    }
    for (const [tenantId, retentionDays] of tenants)
      rows.push({
        ...{ ...key, tenantId, retentionDays, scope: COUNTS_CLOSED, time: Math.floor(closedAt / 1000) },
        ...{ pattern: 0n, streamId: 0n, severity: 0, entries: 0, first: 0, last: 0 },
      });
    return rows;
  }
}

/** An id of 64 bits by its halves. */
const idOf = (high: number, low: number): bigint => (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);

/** Of two classes the one that keeps longer; 0 keeps for ever. */
const longer = (a: number, b: number): number => (a === 0 || b === 0 ? 0 : Math.max(a, b));

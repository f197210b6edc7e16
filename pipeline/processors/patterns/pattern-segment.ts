import { OVERFLOW_FINGERPRINT } from '../../clusterer/clusterer.ts';
import { COUNTS_ALL, COUNTS_CLOSED, COUNTS_STREAM, type PatternCount } from '../../counters/pattern-counts.ts';
import { GroupTable } from '../base/group-table.ts';
import { groupsByTenant, largestTenants } from '../volume/tenant-shares.ts';
import { SEVERITY_UNIT, type RecordPatterns } from './record-patterns.ts';

const MINUTE_SECONDS = 60;
const MINUTE_MS = 60_000;
const SCOPE_UNIT = 65_536;
/** A tenant with less of what a segment may hold is counted in full, whatever others have. */
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

/** The errors of a stream in a minute (since 1970, by their own time), by the halves of its id; 0 and 0 for all streams together. */
export type ErrorCount = { readonly streamHigh: number; readonly streamLow: number; readonly minute: number; readonly errors: number };

/** The errors of a pattern, by the halves of its number. */
export type PatternErrors = { readonly high: number; readonly low: number; readonly counts: ErrorCount[] };

/** What a tenant has of errors, by its patterns, and the class of the first ones. */
type CountedErrors = { readonly retentionDays: number; readonly patterns: Map<number, PatternErrors> };

/** Where a segment ends, and of which partition and run it is. */
export type SegmentEnd = { readonly partition: number; readonly until: number; readonly closedAt: number; readonly run: number };

/** What a segment of a partition has counted so far, by spans of `minutes` minutes. */
export class PatternSegment {
  /** The offset of its first record with entries, and when that was appended, milliseconds. */
  readonly from: number;
  readonly since: number;
  readonly minutes: number;
  /** Tenants that have had too many groups here: their streams are counted together, and then their patterns too. */
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
    const [isAlone, isFolded] = [this.alone.has(tenant), this.folded.has(tenant)];
    const kind = retentionDays + SCOPE_UNIT * (isAlone ? COUNTS_ALL : COUNTS_STREAM);
    // the number of a pattern here by its number in the record
    const numbers = isFolded ? [] : Array.from({ length: patterns.size }, (_none, at) => this.#patterns.at(tenant, 0, patterns.high(at), patterns.low(at), 0, 0)); // prettier-ignore
    for (let group = 0; group < groups.size; group++) {
      const [entries, earliest, latest] = [groups.entries(group), first[group] as number, last[group] as number];
      if (isFolded) {
        this.#count(this.#overflow(tenant, retentionDays), entries, earliest, latest);
        continue;
      }
      const level = groups.level(group);
      const pattern = Math.floor(level / SEVERITY_UNIT);
      const own = (numbers[pattern] as number) * SEVERITY_UNIT + (level % SEVERITY_UNIT);
      const time = Math.floor(groups.time(group) / this.minutes);
      const at = isAlone
        ? this.#groups.at(tenant, kind, 0, 0, time, own)
        : this.#groups.at(tenant, kind, groups.high(group), groups.low(group), time, own);
      this.#count(at, entries, earliest, latest);
    }
  }

  /** Adds to a group, as far as its tenant's groups are distinguished here. */
  put({ tenant, retentionDays, scope, patternHigh, patternLow, severity, streamHigh, streamLow, time, entries, first, last }: Group): void {
    const own = this.#own(tenant, patternHigh, patternLow, severity);
    this.#count(this.#place(tenant, retentionDays + SCOPE_UNIT * scope, own, streamHigh, streamLow, time), entries, first, last);
  }

  /** The level of a group: its pattern and severity; -1 where its tenant's patterns are counted together. */
  #own(tenant: number, high: number, low: number, severity: number): number {
    return this.folded.has(tenant) ? -1 : this.#patterns.at(tenant, 0, high, low, 0, 0) * SEVERITY_UNIT + severity;
  }

  #place(tenant: number, kind: number, own: number, streamHigh: number, streamLow: number, time: number): number {
    if (own < 0) return this.#overflow(tenant, kind % SCOPE_UNIT);
    if (!this.alone.has(tenant)) return this.#groups.at(tenant, kind, streamHigh, streamLow, time, own);
    return this.#groups.at(tenant, (kind % SCOPE_UNIT) + SCOPE_UNIT * COUNTS_ALL, 0, 0, time, own);
  }

  /** The group of a tenant whose patterns are counted together. */
  #overflow(tenant: number, retentionDays: number): number {
    const time = Math.floor(this.since / MINUTE_MS / this.minutes);
    const own = this.#patterns.at(tenant, 0, OVERFLOW_HIGH, OVERFLOW_LOW, 0, 0) * SEVERITY_UNIT;
    return this.#groups.at(tenant, retentionDays + SCOPE_UNIT * COUNTS_ALL, 0, 0, time, own);
  }

  #count(group: number, entries: number, earliest: number, latest: number): void {
    const [first, last] = [this.#first, this.#last];
    if (this.#groups.entries(group) === 0) {
      first[group] = earliest;
      last[group] = latest;
    } else {
      if (earliest < (first[group] as number)) first[group] = earliest;
      if (latest > (last[group] as number)) last[group] = latest;
    }
    this.#groups.add(group, entries, 0);
  }

  /**
   * Where there are too many groups, those who have most of them lose what makes them many: first their streams, then their patterns, which are
   * counted as the overflow from then on. So the counts of others are as they would be without them.
   */
  limit(maxGroups: number): void {
    for (const left of [this.alone, this.folded]) {
      if (this.size <= maxGroups) return;
      const byTenant = groupsByTenant(this.#groups, () => true);
      const largest = largestTenants({ total: this.size, most: maxGroups, byTenant }, EXCESSIVE_SHARE);
      if (largest.length === 0) return;
      for (const tenant of largest) left.add(tenant);
      this.#regroup();
    }
  }

  #regroup(): void {
    const [patterns, groups, first, last] = [this.#patterns, this.#groups, this.#first, this.#last];
    [this.#patterns, this.#groups, this.#first, this.#last] = [new GroupTable(), new GroupTable(), [], []];
    for (let at = 0; at < groups.size; at++) {
      const [tenant, level] = [groups.tenant(at), groups.level(at)];
      const pattern = Math.floor(level / SEVERITY_UNIT);
      const own = this.#own(tenant, patterns.high(pattern), patterns.low(pattern), level % SEVERITY_UNIT);
      const place = this.#place(tenant, groups.kind(at), own, groups.high(at), groups.low(at), groups.time(at));
      this.#count(place, groups.entries(at), first[at] as number, last[at] as number);
    }
  }

  /** What it has counted of a severity on, by tenant, in the order in which they were first counted. */
  errors(least: number): Map<number, CountedErrors> {
    const [groups, patterns] = [this.#groups, this.#patterns];
    const tenants = new Map<number, CountedErrors>();
    for (let at = 0; at < groups.size; at++) {
      const level = groups.level(at);
      if (level % SEVERITY_UNIT < least) continue;
      const [tenant, pattern] = [groups.tenant(at), Math.floor(level / SEVERITY_UNIT)];
      let own = tenants.get(tenant);
      if (own === undefined)
        tenants.set(tenant, (own = { retentionDays: groups.kind(at) % SCOPE_UNIT, patterns: new Map<number, PatternErrors>() }));
      let errors = own.patterns.get(pattern);
      if (errors === undefined) {
        errors = { high: patterns.high(pattern), low: patterns.low(pattern), counts: [] };
        own.patterns.set(pattern, errors);
      }
      errors.counts.push({ streamHigh: groups.high(at), streamLow: groups.low(at), minute: groups.time(at) * this.minutes, errors: groups.entries(at) }); // prettier-ignore
    }
    return tenants;
  }

  /** Its groups, in the order in which they were first counted. */
  *groups(): Generator<Group> {
    const [groups, patterns] = [this.#groups, this.#patterns];
    for (let at = 0; at < groups.size; at++) {
      const [kind, level] = [groups.kind(at), groups.level(at)];
      const pattern = Math.floor(level / SEVERITY_UNIT);
      // one literal: a segment is written down whole with each snapshot
      yield {
        tenant: groups.tenant(at),
        retentionDays: kind % SCOPE_UNIT,
        scope: Math.floor(kind / SCOPE_UNIT),
        patternHigh: patterns.high(pattern),
        patternLow: patterns.low(pattern),
        streamHigh: groups.high(at),
        streamLow: groups.low(at),
        time: groups.time(at),
        severity: level % SEVERITY_UNIT,
        entries: groups.entries(at),
        first: this.#first[at] as number,
        last: this.#last[at] as number,
      };
    }
  }

  /** Its rows, and behind those of all tenants, for each of these, that it is closed. */
  rows({ partition, until, closedAt, run }: SegmentEnd): Omit<PatternCount, 'part'>[] {
    const span = this.minutes * MINUTE_SECONDS;
    const key = { span, partition, segment: this.from, until, run };
    const rows: Omit<PatternCount, 'part'>[] = [];
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

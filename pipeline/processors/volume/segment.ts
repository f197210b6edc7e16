import { SCOPE_ALL, SCOPE_ALL_ALONE, SCOPE_STREAM, type VolumeRow } from '../../counters/volume-row.ts';
import { GroupTable } from './group-table.ts';
import { LevelList } from './level-list.ts';
import { MINUTE_SECONDS } from './spans.ts';
import type { RecordGroups } from './record-groups.ts';

/** Levels, and bytes of them, of which a segment may have more only until the record is folded that brought them. */
const MAX_LEVELS = 4096;
const MAX_LEVEL_BYTES = 256 * 1024;

const SCOPE_UNIT = 65_536;
/** Where groups are dropped, so many are left of those that there may be. */
const KEPT_SHARE = 0.75;

/** A group's tenancy beside the tenant: its retention class in days, and its scope. */
export const kindOf = (retentionDays: number, scope: number): number => retentionDays + scope * SCOPE_UNIT;

const scopeOf = (kind: number): number => Math.floor(kind / SCOPE_UNIT);

/** What a segment has counted so far. */
export class Segment {
  /** The offset of its first record with entries, and when that was appended, milliseconds. */
  readonly from: number;
  readonly since: number;
  groups = new GroupTable();
  readonly levels = new LevelList();
  /** Tenants that have had too many streams here: all of one are counted together alone. */
  readonly alone = new Set<number>();

  constructor(from: number, since: number) {
    this.from = from;
    this.since = since;
  }

  /** Adds what was counted of a record, by spans of so many minutes. */
  add(record: RecordGroups, tenantId: number, retentionDays: number, minutes: number): void {
    const { groups, levels } = this;
    const { table } = record;
    const { size } = table;
    const numbers = record.levels.map((text) => levels.number(text));
    const isAlone = this.alone.has(tenantId);
    for (let group = 0; group < size; group++) {
      if (isAlone && table.kind(group) === SCOPE_STREAM) continue;
      const own = groups.at(
        tenantId,
        kindOf(retentionDays, table.kind(group)),
        table.high(group),
        table.low(group),
        Math.floor(table.time(group) / minutes),
        numbers[table.level(group)] as number,
      );
      groups.add(own, table.entries(group), table.bytes(group));
    }
  }

  /**
   * Counts single streams no further of the tenants that have most of them, where there are too many groups: such rows would be about as
   * many as the entries.
   */
  limit(maxGroups: number): void {
    if (this.groups.size <= maxGroups) return;
    const before = this.groups;
    let left = before.size;
    for (const [tenant, groups] of this.#streamGroups()) {
      if (left <= maxGroups * KEPT_SHARE) break;
      this.alone.add(tenant);
      left -= groups;
    }
    if (left === before.size) return;
    this.groups = new GroupTable();
    for (let group = 0; group < before.size; group++) {
      const [tenant, kind] = [before.tenant(group), before.kind(group)];
      if (scopeOf(kind) === SCOPE_STREAM && this.alone.has(tenant)) continue;
      const own = this.groups.at(tenant, kind, before.high(group), before.low(group), before.time(group), before.level(group));
      this.groups.add(own, before.entries(group), before.bytes(group));
    }
  }

  /** How many groups of single streams each tenant has, the most first. */
  #streamGroups(): [tenant: number, groups: number][] {
    const { groups } = this;
    const sums = new Map<number, number>();
    for (let group = 0; group < groups.size; group++) {
      const tenant = groups.tenant(group);
      if (scopeOf(groups.kind(group)) === SCOPE_STREAM) sums.set(tenant, (sums.get(tenant) ?? 0) + 1);
    }
    return [...sums].sort(([a, most], [b, more]) => more - most || a - b);
  }

  /** Whether it must count no further. */
  isFull(maxGroups: number): boolean {
    return this.groups.size > maxGroups || this.levels.texts.length > MAX_LEVELS || this.levels.bytes > MAX_LEVEL_BYTES;
  }

  /** Its rows, in the order in which they were first counted. */
  rows(minutes: number): VolumeRow[] {
    const { groups } = this;
    const levels = this.levels.texts.map((text) => Buffer.from(text, 'latin1'));
    const rows: VolumeRow[] = [];
    for (let group = 0; group < groups.size; group++) {
      const kind = groups.kind(group);
      const ofAll = this.alone.has(groups.tenant(group)) ? SCOPE_ALL_ALONE : SCOPE_ALL;
      const scope = scopeOf(kind) === SCOPE_ALL ? ofAll : SCOPE_STREAM;
      rows.push({
        tenantId: groups.tenant(group),
        retentionDays: kind % SCOPE_UNIT,
        scope,
        time: groups.time(group) * minutes * MINUTE_SECONDS,
        streamHigh: scope === SCOPE_STREAM ? groups.high(group) : 0,
        streamLow: scope === SCOPE_STREAM ? groups.low(group) : 0,
        level: levels[groups.level(group)] as Buffer,
        entries: groups.entries(group),
        bytes: groups.bytes(group),
      });
    }
    return rows;
  }
}

import { SCOPE_ALL, SCOPE_ALL_ALONE, SCOPE_STREAM, SCOPE_UNPUBLISHED, type VolumeRow } from '../../counters/volume-row.ts';
import { idOf } from '../../rows/halves.ts';
import { GroupTable } from '../base/group-table.ts';
import type { Segment as Counting } from '../base/segments.ts';
import { LevelList } from './level-list.ts';
import { MINUTE_SECONDS } from '../base/spans.ts';
import type { RecordGroups } from '../base/record-groups.ts';
import { groupsByTenant, largestTenants, levelsByTenant, type Bounded } from './tenant-shares.ts';
import { extend, type Unpublished } from './unpublished.ts';

/** Levels, and bytes of them, of which a segment may have more only until the record is folded that brought them. */
const MAX_LEVELS = 4096;
const MAX_LEVEL_BYTES = 256 * 1024;
/** A tenant that has less of what a segment may hold is counted, whatever others have. */
const EXCESSIVE_SHARE = 1 / 64;
const NO_LEVEL = Buffer.alloc(0);

const SCOPE_UNIT = 65_536;
/** A group's retention class in days and its scope, as one number. */
export const kindOf = (retentionDays: number, scope: number): number => retentionDays + scope * SCOPE_UNIT;

const scopeOf = (kind: number): number => Math.floor(kind / SCOPE_UNIT);

/** What a segment has counted so far. */
export class Segment implements Counting {
  /** The offset of its first record with entries, and when that was appended, milliseconds. */
  readonly from: number;
  readonly since: number;
  groups = new GroupTable();
  levels = new LevelList();
  /** Tenants that have had too many streams here: all of one are counted together alone. */
  readonly alone = new Set<number>();
  /** Tenants that have had too much else here: they are not counted. */
  readonly unpublished = new Map<number, Unpublished>();

  constructor(from: number, since: number) {
    this.from = from;
    this.since = since;
  }

  /** Adds what was counted of a record, by spans of `minutes` minutes. */
  add(record: RecordGroups, tenantId: number, retentionDays: number, minutes: number): void {
    const { groups, levels, unpublished } = this;
    const { table } = record;
    const { size } = table;
    if (unpublished.has(tenantId)) {
      for (let group = 0; group < size; group++) extend(unpublished, tenantId, retentionDays, Math.floor(table.time(group) / minutes));
      return;
    }
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
   * Leaves out what is too much, of the tenants that have most of it. First their single streams: such rows would be about as many as the
   * entries. Where they have too many spans of time and levels, all of them: else the segment is closed, for all tenants of its partition.
   * Single streams of tenants that have few are counted as long as they fit.
   */
  limit(maxGroups: number): void {
    if (!this.isFull(maxGroups)) return;
    this.#limitStreams(maxGroups, EXCESSIVE_SHARE);
    this.#limitTenants(maxGroups);
    this.#limitStreams(maxGroups, 0);
  }

  #limitStreams(maxGroups: number, leastShare: number): void {
    const byTenant = groupsByTenant(this.groups, (kind) => scopeOf(kind) === SCOPE_STREAM);
    const left = largestTenants({ total: this.groups.size, most: maxGroups, byTenant }, leastShare);
    for (const tenant of left) this.alone.add(tenant);
    if (left.length > 0) this.#keep((tenant, kind) => scopeOf(kind) !== SCOPE_STREAM || !this.alone.has(tenant));
  }

  #limitTenants(maxGroups: number): void {
    for (let left = this.#excessive(maxGroups); left.size > 0; left = this.#excessive(maxGroups)) {
      const { groups, unpublished } = this;
      for (let group = 0; group < groups.size; group++) {
        const tenant = groups.tenant(group);
        if (left.has(tenant)) extend(unpublished, tenant, groups.kind(group) % SCOPE_UNIT, groups.time(group));
      }
      this.#keep((tenant) => !unpublished.has(tenant));
    }
  }

  /** The tenants that have most of what is too much. */
  #excessive(maxGroups: number): Set<number> {
    if (!this.isFull(maxGroups)) return new Set();
    const { groups, levels } = this;
    const bounds: Bounded[] = [
      { total: groups.size, most: maxGroups, byTenant: groupsByTenant(groups, () => true) },
      { total: levels.texts.length, most: MAX_LEVELS, byTenant: levelsByTenant(groups, () => 1) },
      { total: levels.bytes, most: MAX_LEVEL_BYTES, byTenant: levelsByTenant(groups, (level) => levels.texts[level]?.length ?? 0) },
    ];
    return new Set(bounds.flatMap((bound) => largestTenants(bound, EXCESSIVE_SHARE)));
  }

  /** Keeps groups, and the levels that they have. */
  #keep(isKept: (tenant: number, kind: number) => boolean): void {
    const [groups, levels] = [this.groups, this.levels];
    this.groups = new GroupTable();
    this.levels = new LevelList();
    for (let group = 0; group < groups.size; group++) {
      const [tenant, kind] = [groups.tenant(group), groups.kind(group)];
      if (!isKept(tenant, kind)) continue;
      const level = this.levels.number(levels.texts[groups.level(group)] as string);
      this.groups.add(
        this.groups.at(tenant, kind, groups.high(group), groups.low(group), groups.time(group), level),
        groups.entries(group),
        groups.bytes(group),
      );
    }
  }

  /** Whether it must count no further. */
  isFull(maxGroups: number): boolean {
    return this.groups.size > maxGroups || this.levels.texts.length > MAX_LEVELS || this.levels.bytes > MAX_LEVEL_BYTES;
  }

  /** Its rows, in the order in which they were first counted, and behind them whom it does not count. */
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
        streamId: scope === SCOPE_STREAM ? idOf(groups.high(group), groups.low(group)) : 0n,
        level: levels[groups.level(group)] as Buffer,
        entries: groups.entries(group),
        bytes: groups.bytes(group),
      });
    }
    const seconds = minutes * MINUTE_SECONDS;
    for (const [tenantId, { first, last, retentionDays }] of this.unpublished)
      rows.push({
        ...{ tenantId: 0, retentionDays, scope: SCOPE_UNPUBLISHED, time: last * seconds },
        ...{ streamId: BigInt(tenantId), level: NO_LEVEL, entries: (last - first) * seconds, bytes: 0 },
      });
    return rows;
  }
}

import { severityOf } from '../../core/severity.ts';
import { SCOPE_STREAM } from '../../counters/volume-row.ts';
import type { PartialOutput } from '../base/partial.ts';
import type { Batch, Input, Processor } from '../base/processor.ts';
import { groupsOf } from '../base/record-groups.ts';
import { ByteReader, ByteWriter, CutOff } from '../../core/snapshot-bytes.ts';
import { mostOf, type Bounds } from '../base/bounds.ts';
import { MAX_STREAMS, TenantRates } from './tenant-rates.ts';

/** How often counts are reported, and how much later where nothing came, for mergers that wait for them. Milliseconds, by append time. */
const PUBLISH_MS = 10_000;
const QUIET_MS = 60_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** A tenant without entries for this long is forgotten. */
const FORGET_MS = 2 * HOUR_MS;
/** Beyond this number of streams of a partition a tenant has `FEW_STREAMS` of its own. */
const MANY_STREAMS = 150_000;
const FEW_STREAMS = 100;
/** Bytes of label sets that a partition knows: 400 for each of 10,000 streams of a tenant. Streams beyond are counted with the others. */
const MIB = 1024 * 1024;
const TEXTS: Bounds = { most: 24 * MIB, ofTenant: 4 * MIB, few: 64 * 1024, last: 32 * MIB };
/** Entries that are older or newer than this when they come do not count for what is usual. Minutes. */
const OLDEST = 15 * 24 * 60;
const NEWEST = 60;

/** What a partition has counted and not reported. */
export type RatesState = {
  readonly tenants: Map<number, TenantRates>;
  /** When it is reported next, by append time, milliseconds. */
  publishAt: number;
  /** The hour (since 1970, by append time) in which streams were forgotten last. */
  hour: number;
  /** Streams that are known, of all tenants, and bytes of their label sets. */
  known: number;
  textBytes: number;
};

/**
 * Counts entries by tenant, stream, minute and severity, for mergers that find what leaves its own past. Each ten seconds of append time it
 * reports what came since, as increments, in partials that a merger takes once each (docs/adr/0024-what-spans-partitions.md).
 */
export const rates: Processor<RatesState> = {
  name: 'rates',
  init: () => ({ tenants: new Map(), publishAt: 0, hour: 0, known: 0, textBytes: 0 }),

  fold(state: RatesState, input: Input): readonly PartialOutput[] {
    const outputs = input.appendedAt >= state.publishAt ? publishAll(state, input) : [];
    if (input.kind === 'tick' || input.columns === null || input.columns.count === 0) return outputs;
    const tenant = add(state, input);
    return tenant.isFull ? [...outputs, ...publish(input.tenantId, tenant, input)] : outputs;
  },

  snapshot({ tenants, publishAt, hour }: RatesState): Buffer {
    const to = new ByteWriter();
    for (const number of [VERSION, publishAt, hour, tenants.size]) to.count(number);
    for (const [tenantId, tenant] of tenants) {
      to.count(tenantId);
      tenant.write(to);
    }
    return to.finish();
  },

  restore(bytes: Buffer): RatesState | null {
    const from = new ByteReader(bytes);
    try {
      if (from.count() !== VERSION) return null;
      const state: RatesState = { tenants: new Map(), publishAt: from.count(), hour: from.count(), known: 0, textBytes: 0 };
      for (let left = from.count(0xffff_ffff); left > 0; left--) state.tenants.set(from.count(0xffff_ffff), TenantRates.read(from));
      count(state);
      return from.isAtEnd ? state : null;
    } catch (error) {
      if (error instanceof CutOff) return null;
      throw error;
    }
  },
};

const VERSION = 2;

const hourOf = ({ appendedAt }: Input): number => Math.floor(appendedAt / HOUR_MS);

const publish = (tenantId: number, tenant: TenantRates, input: Input): PartialOutput[] =>
  tenant
    .publish(input.appendedAt, hourOf(input))
    .map((value) => ({ kind: 'partial', tenantId, retentionDays: tenant.retentionDays, value }));

/** What was counted of every tenant before this input. */
function publishAll(state: RatesState, input: Input): PartialOutput[] {
  const { appendedAt } = input;
  const outputs: PartialOutput[] = [];
  for (const [tenantId, tenant] of state.tenants) {
    const isDue = tenant.hasNews || appendedAt >= tenant.publishedAt + QUIET_MS;
    if (isDue) outputs.push(...publish(tenantId, tenant, input));
    if (appendedAt >= tenant.seenAt + FORGET_MS) state.tenants.delete(tenantId);
  }
  state.publishAt = Math.floor(appendedAt / PUBLISH_MS) * PUBLISH_MS + PUBLISH_MS;
  const hour = hourOf(input);
  if (hour > state.hour) {
    for (const tenant of state.tenants.values()) tenant.known.forget(hour);
    state.hour = hour;
  }
  count(state);
  return outputs;
}

/** Adds a record's entries to those of its tenant. */
function add(state: RatesState, input: Batch): TenantRates {
  const { tenants } = state;
  const { tenantId, retentionDays, appendedAt } = input;
  let tenant = tenants.get(tenantId);
  if (tenant === undefined) tenants.set(tenantId, (tenant = new TenantRates(retentionDays)));
  tenant.retentionDays = retentionDays;
  tenant.seenAt = appendedAt;
  const { table, levels } = groupsOf(input);
  const severities = levels.map(severityOf);
  const now = Math.floor(appendedAt / MINUTE_MS);
  let hasLearned = false;
  for (let group = 0; group < table.size; group++) {
    if (table.kind(group) !== SCOPE_STREAM) continue;
    const minute = table.time(group);
    if (minute < now - OLDEST || minute > now + NEWEST) continue;
    const [high, low] = [table.high(group), table.low(group)];
    const isNew = tenant.add(high, low, minute, severities[table.level(group)] ?? 0, table.entries(group));
    if (hasLearned || !isNew || tenant.known.place(high, low) >= 0) continue;
    learn(state, tenant, input);
    hasLearned = true;
  }
  return tenant;
}

/** Takes the streams of a record that are not known. */
function learn(state: RatesState, tenant: TenantRates, input: Batch): void {
  const { known } = tenant;
  const most = state.known < MANY_STREAMS ? MAX_STREAMS : FEW_STREAMS;
  if (known.size >= 2 * most) return;
  const before = { size: known.size, textBytes: known.textBytes };
  const bounds = { most, mostBytes: mostOf(known.textBytes, state.textBytes, TEXTS) };
  input.streams.forEach((stream) => {
    if (known.place(stream.high, stream.low) < 0) known.learn(stream.high, stream.low, stream.text(), hourOf(input), bounds);
  });
  state.known += known.size - before.size;
  state.textBytes += known.textBytes - before.textBytes;
}

/** Counts what is known of all tenants. */
function count(state: RatesState): void {
  [state.known, state.textBytes] = [0, 0];
  for (const { known } of state.tenants.values()) {
    state.known += known.size;
    state.textBytes += known.textBytes;
  }
}

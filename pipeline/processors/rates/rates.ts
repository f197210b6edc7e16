import { SEVERITIES, type Severity, severityOf } from '../../core/severity.ts';
import { ByteReader, ByteWriter, unlessCutOff } from '../../core/snapshot-bytes.ts';
import { GroupTable } from '../base/group-table.ts';
import { KnownStreams } from './known-streams.ts';
import { SCOPE_STREAM } from '../../counters/volume-row.ts';
import type { PartialOutput } from '../base/partial.ts';
import type { Batch, Input, Processor } from '../base/processor.ts';
import { groupsOf } from '../base/record-groups.ts';
import { mostOf, type Bounds } from '../base/bounds.ts';

const VERSION = 2;
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
    return unlessCutOff(() => {
      if (from.count() !== VERSION) return null;
      const state: RatesState = { tenants: new Map(), publishAt: from.count(), hour: from.count(), known: 0, textBytes: 0 };
      for (let left = from.count(0xffff_ffff); left > 0; left--) state.tenants.set(from.count(0xffff_ffff), TenantRates.read(from));
      count(state);
      return from.isAtEnd ? state : null;
    });
  },
};

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

/** Streams of a tenant that are counted singly in a partition; all others are one, `{}`. */
const MAX_STREAMS = 10_000;
/** Groups of stream, minute and severity that are counted before they are reported at once. */
const MOST_COUNTED = 50_000;
/** What a partial may have, and what a stream and a minute take in it, in addition to the label set: bytes, about. */
const MOST_BYTES = 128 * 1024;
const STREAM_BYTES = 16;
const MINUTE_BYTES = 24;
/** The others, whose id no stream has, and their label set. */
const OTHERS = '';
const OTHERS_STREAM = '{}';
/** More groups than are ever counted before they are reported. */
const MOST_GROUPS = 1_000_000;

/** What a partition has counted of a tenant since its last report. */
export class TenantRates {
  retentionDays: number;
  /** When entries came last, and when it was reported last, by append time, milliseconds. */
  seenAt = 0;
  publishedAt = 0;
  readonly known: KnownStreams;
  /** The entries by stream, minute and severity (as level). */
  readonly #counts = new GroupTable();
  /** The hour in which the label set of the others was reported last. */
  #othersHour = -1;

  constructor(retentionDays: number, known = new KnownStreams()) {
    this.retentionDays = retentionDays;
    this.known = known;
  }

  /** True once it has counted so much that it must report. */
  get isFull(): boolean {
    return this.#counts.size >= MOST_COUNTED;
  }

  get hasNews(): boolean {
    return this.#counts.size > 0;
  }

  /** Counts entries of a stream; true where it had none in this minute and severity. */
  add(high: number, low: number, minute: number, severity: Severity, entries: number): boolean {
    const counts = this.#counts;
    const before = counts.size;
    counts.add(counts.at(0, 0, high, low, minute, severity), entries, 0);
    return counts.size > before;
  }

  /** All that was counted, as values of partials, one at least; from then on nothing is counted. */
  publish(appendedAt: number, hour: number): Buffer[] {
    const values = cut(this.#byStream(hour)).map(encodeRates);
    this.#counts.clear();
    this.publishedAt = appendedAt;
    return values;
  }

  write(to: ByteWriter): void {
    const counts = this.#counts;
    for (const number of [this.retentionDays, this.seenAt, this.publishedAt]) to.count(number);
    to.signed(this.#othersHour);
    this.known.write(to);
    to.count(counts.size);
    for (let group = 0; group < counts.size; group++) {
      to.word(counts.high(group));
      to.word(counts.low(group));
      to.signed(counts.time(group));
      to.count(counts.level(group));
      to.count(counts.entries(group));
    }
  }

  /** What `write` wrote; throws CutOff where it is anything else. */
  static read(from: ByteReader): TenantRates {
    const [retentionDays, seenAt, publishedAt] = [from.count(65_535), from.count(), from.count()];
    const othersHour = from.signed();
    const read = new TenantRates(retentionDays, KnownStreams.read(from));
    for (let left = from.count(MOST_GROUPS); left > 0; left--)
      read.add(from.word(), from.word(), from.signed(), from.count(KINDS - 1) as Severity, from.count());
    [read.seenAt, read.publishedAt, read.#othersHour] = [seenAt, publishedAt, othersHour];
    return read;
  }

  /** What was counted, in the order in which streams came; the others behind them. */
  #byStream(hour: number): StreamCounts[] {
    const counts = this.#counts;
    const byPlace = new Map<number, Map<number, number[]>>();
    for (let group = 0; group < counts.size; group++) {
      const known = this.known.place(counts.high(group), counts.low(group));
      if (known >= 0) this.known.see(known, hour);
      const place = known >= 0 && this.known.text(known) !== null ? known : -1;
      let minutes = byPlace.get(place);
      if (minutes === undefined) byPlace.set(place, (minutes = new Map<number, number[]>()));
      let bySeverity = minutes.get(counts.time(group));
      if (bySeverity === undefined) minutes.set(counts.time(group), (bySeverity = new Array<number>(KINDS).fill(0)));
      bySeverity[counts.level(group)] = (bySeverity[counts.level(group)] ?? 0) + counts.entries(group);
    }
    return [...byPlace].map(([place, minutes]) => ({
      ...(place < 0 ? this.#others(hour) : { id: this.known.id(place), stream: this.known.report(place, hour) }),
      minutes: [...minutes].sort(([a], [b]) => a - b).map(([minute, bySeverity]) => ({ minute, bySeverity })),
    }));
  }

  #others(hour: number): Pick<StreamCounts, 'id' | 'stream'> {
    const stream = this.#othersHour === hour ? null : OTHERS_STREAM;
    this.#othersHour = hour;
    return { id: OTHERS, stream };
  }
}

/** As many streams together as a partial may have; none are a partial too, which states that nothing came. */
function cut(streams: readonly StreamCounts[]): StreamCounts[][] {
  const parts: StreamCounts[][] = [[]];
  let budget = MOST_BYTES;
  for (const one of streams) {
    const size = STREAM_BYTES + Buffer.byteLength(one.stream ?? '') + one.minutes.length * MINUTE_BYTES;
    if (size > budget && parts.at(-1)?.length !== 0) {
      parts.push([]);
      budget = MOST_BYTES;
    }
    parts.at(-1)?.push(one);
    budget -= size;
  }
  return parts;
}

const PARTIAL_VERSION = 1;
/** More than a partial ever has. */
const MOST_IN_PARTIAL = 1_000_000;
const KINDS = SEVERITIES.length;
/** More kinds at once than there are. */
const MOST_MASK = 2 ** KINDS - 1;
/** Severities that are errors: error and fatal. */
const FIRST_ERROR = 5;

/** The entries of a minute (since 1970, by their own time), by severity. */
export type MinuteCounts = { readonly minute: number; readonly bySeverity: readonly number[] };

/** What a partition has counted of a stream since its last report. */
export type StreamCounts = {
  /** Its id, a character for each of its eight bytes; empty for all others together. */
  readonly id: string;
  /** Its label set, reported once an hour; null in between. */
  readonly stream: string | null;
  /** In the order of their minutes, each once. */
  readonly minutes: readonly MinuteCounts[];
};

/** The value of a partial: what was counted of a tenant, stream by stream. Without streams it states that nothing came. */
export function encodeRates(streams: readonly StreamCounts[]): Buffer {
  const to = new ByteWriter();
  to.count(PARTIAL_VERSION);
  to.count(streams.length);
  for (const { id, stream, minutes } of streams) {
    to.text(id);
    to.text(stream === null ? '' : Buffer.from(stream).toString('latin1'));
    to.count(minutes.length);
    let before = 0;
    for (const { minute, bySeverity } of minutes) {
      to.signed(minute - before);
      before = minute;
      to.count(bySeverity.reduce((mask, count, kind) => (count > 0 ? mask | (1 << kind) : mask), 0));
      for (const count of bySeverity) if (count > 0) to.count(count);
    }
  }
  return to.finish();
}

/** The content of a partial, column by column. Stream `n` has the minutes from `ends[n - 1]` (0 of the first one) to before `ends[n]`. */
export type Rates = {
  readonly ids: string[];
  /** Label sets; null where it is not reported. */
  readonly streams: (string | null)[];
  readonly ends: number[];
  readonly minutes: number[];
  readonly entries: number[];
  /** Those of the entries that are errors. */
  readonly errors: number[];
};

/** Reads a value; null where it is not such a partial. */
export function readRates(value: Buffer): Rates | null {
  const from = new ByteReader(value);
  return unlessCutOff(() => {
    if (from.count() !== PARTIAL_VERSION) return null;
    const read: Rates = { ids: [], streams: [], ends: [], minutes: [], entries: [], errors: [] };
    for (let left = from.count(MOST_IN_PARTIAL); left > 0; left--) {
      read.ids.push(from.text());
      const text = from.text();
      read.streams.push(text === '' ? null : Buffer.from(text, 'latin1').toString());
      readMinutes(from, read);
      read.ends.push(read.minutes.length);
    }
    return from.isAtEnd ? read : null;
  });
}

function readMinutes(from: ByteReader, { minutes, entries, errors }: Rates): void {
  let minute = 0;
  for (let left = from.count(MOST_IN_PARTIAL); left > 0; left--) {
    minute += from.signed();
    let [all, wrong] = [0, 0];
    const mask = from.count(MOST_MASK);
    for (let kind = 0; kind < KINDS; kind++) {
      if ((mask & (1 << kind)) === 0) continue;
      const count = from.count();
      all += count;
      if (kind >= FIRST_ERROR) wrong += count;
    }
    minutes.push(minute);
    entries.push(all);
    errors.push(wrong);
  }
}

import type { AuditedLog, AuditedPosition } from '../../pipeline/bus/measured/audited-log.ts';
import { isTick } from '../../pipeline/bus/records/record.ts';
import type { SignalRecord } from '../../pipeline/bus/records/signal-record.ts';
import type { Signal } from '../../pipeline/bus/records/signal.ts';
import type { AuditFinding, AuditReport } from '../../pipeline/core/audit-report.ts';
import { isWhole, judge, type Expected, type Stored } from './compare.ts';
import { hourText, Tally } from './report.ts';
import { recordKey, type StoredPositions } from './stored.ts';

export type AuditOptions = {
  readonly log: AuditedLog;
  /** What the log's records are. */
  readonly signal: Signal;
  readonly stored: StoredPositions;
  /** Span of append times, milliseconds, `to` exclusive; null: as far back as Kafka has records, and up to what is stored. */
  readonly from: number | null;
  readonly to: number | null;
  /** Since when the rows of a tenant may be gone, milliseconds; null for one that is not deleted. */
  readonly deletedAt?: (tenantId: number) => number | null;
  /** Reads the dead letters of the topic. */
  readonly deadLetters: () => Promise<AuditedDeadLetters>;
  readonly now: () => number;
  /** Is given how many records have been compared. */
  readonly onProgress?: (records: number) => void;
};

/** When the last dead letter of a record was written, milliseconds; null where there is none. */
export type LastDeadLetter = (partition: number, offset: number) => number | null;

/** Records that have expired unread, in offsets, and when that was found, milliseconds. */
export type ExpiredRecords = { readonly partition: number; readonly first: number; readonly last: number; readonly at: number };

/** The dead letters of a topic, and its expired records. */
export type AuditedDeadLetters = { readonly last: LastDeadLetter; readonly expired: readonly ExpiredRecords[] };

/** Records and entries that are compared at once. */
const MAX_RECORDS = 20_000;
const MAX_ENTRIES = 1_000_000;

/**
 * Compares what a topic has with what is stored: each entry of each record that is committed must be in the table once, at the
 * position that its record gives it. The topic is read whole, so it costs as much as consuming it.
 */
export async function audit(options: AuditOptions): Promise<AuditReport> {
  const tally = new Tally();
  // the table first: what is stored by then, Kafka has had
  const highest = new Map<number, number>();
  for (const { partition } of await options.log.positions(null, null)) highest.set(partition, await options.stored.highest(partition));
  const positions = await options.log.positions(options.from, options.to);
  // the dead letters last: what is committed and could not be stored has its dead letter by now
  const { last: lastDeadLetter, expired } = await options.deadLetters();
  const slices = new Map(positions.map((position) => [position.partition, new Slice(position, lastDeadLetter, options, tally)]));
  const removed = new Map<number, number>();
  for (const position of positions) removed.set(position.partition, await auditRemoved(position, options, tally));
  const spans = new Map(positions.map((position) => [position.partition, { from: position.from, to: nextOf(position) }]));
  await options.log.read(spans, async (partition, records) => slices.get(partition)?.take(records));
  for (const slice of slices.values()) await slice.flush();
  for (const { partition, end } of positions) await auditBeyond(partition, end, highest.get(partition) ?? -1, options, tally);
  return {
    ...tally.total(),
    partitions: positions.map((position) => ({
      partition: position.partition,
      first: position.from,
      next: nextOf(position),
      pending_records: Math.max(0, position.to - nextOf(position)),
      removed_records: removed.get(position.partition) ?? 0,
    })),
    findings: [...tally.findings(), ...expiredFindings(positions, expired, options)],
    hours: tally.hours(),
  };
}

/** What has expired unread: as the sinks found it within the span, and what they will find. */
function expiredFindings(
  positions: readonly AuditedPosition[],
  found: readonly ExpiredRecords[],
  { from, to, now }: AuditOptions,
): AuditFinding[] {
  const within = found.filter(({ at }) => at >= (from ?? 0) && at < (to ?? Infinity));
  const ahead = positions
    .filter(({ low, committed }) => committed > 0 && committed < low)
    .map(({ partition, low, committed }) => ({ partition, first: committed, last: low - 1, at: now() }));
  return [...within, ...ahead].map(({ partition, first, last, at }) => ({
    ...{ kind: 'expired', partition, hour: hourText(at), entries: 0, records: last - first + 1 },
    offsets: [first === last ? String(first) : `${String(first)}-${String(last)}`],
  }));
}

/** Where comparing ends: at what is committed. */
const nextOf = ({ from, to, committed }: AuditedPosition): number => Math.max(from, Math.min(to, committed));

/** Of records that Kafka has no more: doubled entries. */
async function auditRemoved({ partition, low }: AuditedPosition, options: AuditOptions, tally: Tally): Promise<number> {
  if (options.from === null) return 0;
  const first = await options.stored.firstBefore(partition, low, options.from);
  if (first === null) return 0;
  for (let at = first; at < low; at += MAX_RECORDS) {
    for (const { offset, timestamp, rows, distinct } of await options.stored.between(partition, at, Math.min(low, at + MAX_RECORDS) - 1)) {
      if (options.to !== null && timestamp >= options.to) continue;
      const doubled = rows - distinct;
      tally.add(
        partition,
        { offset, timestamp, entries: distinct },
        doubled === 0 ? null : { lost: 0, doubled, stray: 0, agedOut: 0, deadLettered: 0 },
      );
    }
  }
  return low - first;
}

/** Rows of records that Kafka has never had: those of a topic of the same name before. */
async function auditBeyond(partition: number, end: number, highest: number, options: AuditOptions, tally: Tally): Promise<void> {
  for (let at = end; at <= highest; at += MAX_RECORDS)
    for (const stored of await options.stored.between(partition, at, Math.min(highest, at + MAX_RECORDS - 1)))
      addStray(tally, partition, stored);
}

const addStray = (tally: Tally, partition: number, { offset, timestamp, rows }: Stored): void =>
  tally.add(partition, { offset, timestamp, entries: 0 }, { lost: 0, doubled: 0, stray: rows, agedOut: 0, deadLettered: 0 });

/** The records of a partition that are compared at once. */
class Slice {
  readonly #partition: number;
  readonly #lastDeadLetter: LastDeadLetter;
  readonly #options: AuditOptions;
  readonly #tally: Tally;
  #records: Expected[] = [];
  /** Records that the table must have by a replay of this slice. */
  #replayed: (Expected & { readonly original: { readonly offset: number; readonly timestamp: number } })[] = [];
  #entries = 0;
  /** The first offset that is not compared yet; null before the first record: what is before it, Kafka has removed by now. */
  #next: number | null = null;
  /** The last offset that was read. */
  #last = -1;

  constructor({ partition }: AuditedPosition, lastDeadLetter: LastDeadLetter, options: AuditOptions, tally: Tally) {
    this.#partition = partition;
    this.#lastDeadLetter = lastDeadLetter;
    this.#options = options;
    this.#tally = tally;
  }

  async take(records: readonly SignalRecord[]): Promise<void> {
    for (const record of records) {
      this.#next ??= record.offset;
      this.#last = record.offset;
      // nothing is stored of a tick: rows with its offset are stray
      if (isTick(record)) continue;
      this.#expect(record);
      this.#entries += record.count;
      if (this.#records.length >= MAX_RECORDS || this.#entries >= MAX_ENTRIES) await this.flush();
    }
  }

  #expect(record: SignalRecord): void {
    const { offset, replayOf, fault } = record;
    const timestamp = Number(record.original.timestamp);
    const deadLetteredAt = this.#lastDeadLetter(this.#partition, replayOf ?? offset);
    if (replayOf === null) {
      const isDead = deadLetteredAt !== null;
      const count = fault === null ? record.count : null;
      this.#records.push({ offset, timestamp, count, ends: isDead ? null : this.#endsOf(record), isDead });
      return;
    }
    // the rows of a replay are those of its original; where it failed again, another dead letter was written after it
    this.#records.push({ offset, timestamp, count: 0, ends: null, isDead: false });
    if (deadLetteredAt !== null && deadLetteredAt >= timestamp) return;
    const count = fault === null ? record.count : null;
    const original = { offset: replayOf, timestamp: record.timestamp };
    this.#replayed.push({ offset, timestamp, count, ends: this.#endsOf(record), isDead: false, original });
  }

  /** When the rows of a record are dropped, milliseconds; null while none of them can be. */
  #endsOf(record: SignalRecord): readonly number[] | null {
    const { signal, now, deletedAt = () => null } = this.#options;
    if (record.fault !== null) return null;
    const gone = record.tenantId === 0 ? null : deletedAt(record.tenantId);
    return gone === null ? signal.rowEnds(record, now(), deletedAt) : Array.from({ length: record.count }, () => gone);
  }

  async flush(): Promise<void> {
    const [records, first, last] = [this.#records, this.#next, this.#last];
    if (first === null || last < first) return;
    const { stored, now, onProgress } = this.#options;
    const found = new Map((await stored.between(this.#partition, first, last)).map((each) => [recordKey(each), each]));
    const odd = records.filter((record) => !isWhole(record, found.get(recordKey(record))));
    const listed = odd.filter((record) => found.has(recordKey(record))).map(({ offset }) => offset);
    const copies = await stored.copies(this.#partition, listed);
    const faulty = new Set(odd.map(({ offset }) => offset));
    for (const record of records) {
      const { offset, timestamp } = record;
      const verdict = faulty.has(offset) ? judge(record, copies.get(recordKey(record)) ?? NO_COPIES, now()) : null;
      this.#tally.add(this.#partition, { offset, timestamp, entries: record.count ?? 0 }, verdict);
      found.delete(recordKey(record));
    }
    for (const stray of found.values()) addStray(this.#tally, this.#partition, stray);
    await this.#flushReplayed();
    onProgress?.(records.length);
    this.#records = [];
    this.#entries = 0;
    this.#next = last + 1;
  }

  /** What a replay has not brought back is lost; all other faults of its rows count for the original. */
  async #flushReplayed(): Promise<void> {
    const copies = await this.#options.stored.copies(
      this.#partition,
      this.#replayed.map(({ original }) => original.offset),
    );
    for (const record of this.#replayed) {
      const { lost } = judge(record, copies.get(recordKey(record.original)) ?? NO_COPIES, this.#options.now());
      if (lost > 0) this.#tally.addFault(this.#partition, record, 'lost', lost);
    }
    this.#replayed = [];
  }
}

const NO_COPIES: ReadonlyMap<number, number> = new Map();

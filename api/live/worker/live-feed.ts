import type { KafkaMessage } from '../../../pipeline/bus/connection/kafka.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';
import { isTick, readRecord } from '../../../pipeline/bus/records/record.ts';
import { logsSignal } from '../../../pipeline/logs/logs-signal.ts';
import type { LogRecord } from '../../../pipeline/logs/record.ts';
import { liveRecordOf, type LiveRecord } from '../match/live-record.ts';
import { CpuShare } from './cpu-share.ts';
import type { Matched, Missed, MissedWhy, OpenTail } from './messages.ts';
import type { LogVector } from '../place/log-place.ts';
import { LiveTail, rateOf } from './open-tail.ts';

type Found = Omit<Matched, 'text' | 'tails'> & { readonly tails: number[]; readonly text: string };

export type LiveFeedOptions = {
  readonly onFound: (found: Found) => void;
  readonly onMissed: (missed: Missed) => void;
  /** Is given how many entries each one of a sample stands for from now on. */
  readonly onSampled: (tail: number, factor: number) => void;
  /** Is given the error that ends a tail. */
  readonly onFailed: (tail: number, error: unknown) => void;
  /** Is given the tail that is at work and may take long; 0: none is. */
  readonly onWork: (tail: number) => void;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** A clock that does not go back, and what this process has worked so far. Milliseconds. */
  readonly clock?: () => number;
  readonly work?: () => number;
};

/** How long one tail may work on one record, and how long heavy tails of all tenants in one turn of the event loop. Milliseconds. */
const RECORD_MS = 250;
const TURN_MS = 1000;
const OVER = -Infinity;

/** Gives the entries of records to the tails that they match. Of records of tenants without a tail, the tenant alone is looked at. */
export class LiveFeed {
  readonly #options: LiveFeedOptions;
  readonly #now: () => number;
  readonly #clock: () => number;
  readonly #work: () => number;
  readonly #tenants = new Map<number, Map<number, LiveTail>>();
  readonly #tails = new Map<number, LiveTail>();
  readonly #cpu = new CpuShare();
  #noted = 0;
  /** By tenant, the heavy tail that was looked for last. */
  readonly #served = new Map<number, number>();
  /** What this process had worked when heavy tails began in this turn, milliseconds; or that their time in it is over. */
  #turnBegan: number | null = null;

  constructor(options: LiveFeedOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#clock = options.clock ?? ((): number => performance.now());
    this.#work = options.work ?? cpuMs;
  }

  get size(): number {
    return this.#tails.size;
  }

  /** Whether a tenant has a tail. */
  wants(tenantId: number): boolean {
    return this.#tenants.has(tenantId);
  }

  /** Opens a tail that begins at `from`, unless it has a place of its own; gives whether it may take long. Throws what is wrong with its query. */
  open(id: number, open: OpenTail, from: LogVector): boolean {
    const began = this.#work();
    try {
      const tail = new LiveTail(id, open, from, this.#now());
      this.#tails.set(id, tail);
      const own = this.#tenants.get(open.tenantId) ?? new Map<number, LiveTail>();
      this.#tenants.set(open.tenantId, own.set(id, tail));
      return tail.query.isHeavy;
    } finally {
      this.#cpu.spend(open.tenantId, this.#work() - began, this.#clock());
    }
  }

  close(id: number): void {
    const tail = this.#tails.get(id);
    if (tail === undefined) return;
    this.#tails.delete(id);
    const own = this.#tenants.get(tail.tenantId);
    own?.delete(id);
    if (own?.size === 0) {
      this.#tenants.delete(tail.tenantId);
      this.#served.delete(tail.tenantId);
    }
    this.#cpu.forget(this.#clock());
  }

  /** Takes records of a partition, in the order of their offsets. */
  take(partition: number, messages: readonly KafkaMessage[]): void {
    for (const message of messages) {
      const own = this.#tenants.get(Number(message.headers?.['tenant']?.toString() ?? 0));
      if (own === undefined) continue;
      const record = readRecord(logsSignal, partition, message);
      // the sink dead-letters what cannot be read; a replay was given already, or is an old dead letter
      if (record.fault !== null || isTick(record) || record.count === 0 || record.replayOf !== null) continue;
      this.#record(record as LogRecord, [...own.values()]);
    }
    this.#note(0);
  }

  /** After log truncation, offsets that tails have seen are reused: all tails end. */
  logTruncated(): void {
    for (const id of [...this.#tails.keys()]) {
      this.close(id);
      this.#options.onFailed(id, new HttpError(503, 'log_truncated', 'The log was truncated; open the tail again.', { retryAfter: 1 }));
    }
  }

  /** Offsets are missing from the log. */
  gap(count: number): void {
    const at = this.#now();
    if (this.#tails.size > 0) this.#options.onMissed({ tails: [...this.#tails.keys()], why: 'log', count, since: at, until: at });
  }

  #record(record: LogRecord, tails: readonly LiveTail[]): void {
    const { partition, offset, tenantId } = record;
    const open = tails.filter((tail) => tail.firstOf(partition, offset) < record.count);
    if (open.length === 0) return;
    const late = this.#cpu.hasTime(tenantId, this.#clock()) ? this.#look(record, open) : open;
    if (late.length > 0) this.#missed(record, late, 'busy', record.count);
    for (const tail of open) tail.lookedAt(partition, offset);
  }

  /** Gives what tails of a tenant find in a record; gives those for which there was no time. */
  #look(record: LogRecord, open: readonly LiveTail[]): readonly LiveTail[] {
    const { tenantId } = record;
    let began = this.#work();
    const spend = (): void => {
      const now = this.#work();
      this.#cpu.spend(tenantId, now - began, this.#clock());
      began = now;
    };
    const live = liveRecordOf(record);
    const found = new Map<number, Found[]>();
    const late: LiveTail[] = [];
    if (live !== null) {
      for (const tail of open) if (!tail.query.isHeavy) this.#match(tail, record, live, found);
      spend();
      const heavy = open.filter(({ query }) => query.isHeavy);
      // those for which there was no time the last time come first
      const last = this.#served.get(tenantId) ?? 0;
      for (const tail of [...heavy.filter(({ id }) => id > last), ...heavy.filter(({ id }) => id <= last)]) {
        if (!this.#cpu.hasTime(tenantId, this.#clock()) || !this.#hasTurn()) late.push(tail);
        else {
          this.#match(tail, record, live, found);
          this.#served.set(tenantId, tail.id);
          spend();
        }
      }
    }
    for (const row of [...found.keys()].sort((a, b) => a - b)) found.get(row)?.forEach(this.#options.onFound);
    for (const tail of open) this.#settle(tail);
    spend();
    return late;
  }

  /** Whether heavy filters may work on in this turn of the event loop: who asks whether this process is there waits for its end. */
  #hasTurn(): boolean {
    if (this.#turnBegan === null) {
      this.#turnBegan = this.#work();
      setImmediate(() => (this.#turnBegan = null));
    }
    if (this.#turnBegan !== OVER && this.#work() - this.#turnBegan >= TURN_MS) this.#turnBegan = OVER;
    return this.#turnBegan !== OVER;
  }

  #match(tail: LiveTail, record: LogRecord, live: LiveRecord, found: Map<number, Found[]>): void {
    const { partition, offset } = record;
    const now = this.#now();
    const floor = tail.floor(now);
    const first = tail.firstOf(partition, offset);
    const rate = rateOf(this.#tenants.size, this.#tenants.get(tail.tenantId)?.size ?? 1);
    if (tail.query.isHeavy) this.#note(tail.id);
    const until = this.#work() + RECORD_MS;
    let [tooMany, left] = [0, 0];
    const goesOn = (row: number): boolean => {
      if (!tail.query.isHeavy || this.#work() < until) return true;
      left = record.count - row;
      return false;
    };
    try {
      for (const [row, text] of tail.query.matches(live, now, goesOn)) {
        if (row < first || (floor !== null && live.timeOf(row) < floor)) continue;
        if (tail.sampler?.takes(partition, offset, row) === false) continue;
        if (!tail.takeToken(rate, now)) tooMany += 1;
        else addFound(found, { tails: [tail.id], partition, offset, index: row, text });
      }
    } catch (error) {
      this.close(tail.id);
      this.#options.onFailed(tail.id, error);
      return;
    }
    if (tooMany > 0) this.#missed(record, [tail], 'rate', tooMany);
    if (left > 0) this.#missed(record, [tail], 'busy', left);
  }

  #settle({ id, sampler }: LiveTail): void {
    const factor = sampler?.settle(this.#now()) ?? null;
    if (factor !== null) this.#options.onSampled(id, factor);
  }

  #missed({ timestamp }: LogRecord, tails: readonly LiveTail[], why: MissedWhy, count: number): void {
    this.#options.onMissed({ tails: tails.map(({ id }) => id), why, count, since: timestamp, until: timestamp });
  }

  #note(tail: number): void {
    if (tail === this.#noted) return;
    this.#noted = tail;
    this.#options.onWork(tail);
  }
}

/** What this process has worked so far. Milliseconds. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** The same string of the same entry is sent once, for all tails that it matches. */
function addFound(found: Map<number, Found[]>, one: Found): void {
  const known = found.get(one.index);
  const same = known?.find(({ text }) => text === one.text);
  if (same !== undefined) same.tails.push(...one.tails);
  else if (known === undefined) found.set(one.index, [one]);
  else known.push(one);
}

import { LiveQuery } from '../match/live-query.ts';
import type { OpenTail } from './messages.ts';
import type { LogVector } from '../place/log-place.ts';
import { Sampler } from './sampler.ts';

/** A tail at work: its query, and how far it has looked. */
export class LiveTail {
  readonly id: number;
  readonly tenantId: number;
  readonly query: LiveQuery;
  /** Of a tail that requests a sample. */
  readonly sampler: Sampler | null;
  readonly #retentionDays: number;
  /** By partition: the record, and the entry in it, that comes next. */
  readonly #next: [offset: number, index: number][];
  /** Entries that it may be sent now. */
  #tokens: number;
  #filledAt: number;

  /** `from`: where it begins, unless it has a place of its own. Throws as `LiveQuery` does. */
  constructor(id: number, open: OpenTail, from: LogVector, now: number) {
    this.id = id;
    this.tenantId = open.tenantId;
    this.#retentionDays = open.retentionDays;
    this.query = new LiveQuery(open, now);
    this.sampler = open.isSampled === true ? new Sampler(now) : null;
    this.#next = (open.from ?? from).map(([offset, index]) => [offset, index]);
    this.#tokens = BURST_SECONDS * MAX_RATE;
    this.#filledAt = now;
  }

  /** The first entry of a record that it has not looked at; Infinity where it has looked at all. */
  firstOf(partition: number, offset: number): number {
    const [next, index] = this.#next[partition] ?? [0, 0];
    if (offset < next) return Infinity;
    return offset === next ? index : 0;
  }

  lookedAt(partition: number, offset: number): void {
    this.#next[partition] = [offset + 1, 0];
  }

  /** Before which entries are older than the tenant's are kept. Nanoseconds; null for never. */
  floor(now: number): bigint | null {
    return this.#retentionDays === 0 ? null : BigInt(now - this.#retentionDays * DAY_MS) * 1_000_000n;
  }

  /** Whether one more entry may be sent, where `rate` a second may be. */
  takeToken(rate: number, now: number): boolean {
    this.#tokens = Math.min(BURST_SECONDS * rate, this.#tokens + (rate * (now - this.#filledAt)) / 1000);
    this.#filledAt = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}

const DAY_MS = 86_400_000;
const BURST_SECONDS = 5;
/** Entries a second of one tail, and of all tails of a process together. */
const MAX_RATE = 10_000;
const MAX_RATE_OF_ALL = 50_000;

/** How many entries a second a tail may be sent: `tenants` have equal parts, and the `tails` of its own share that of theirs. */
export const rateOf = (tenants: number, tails: number): number => Math.max(100, Math.min(MAX_RATE, MAX_RATE_OF_ALL / tenants / tails));

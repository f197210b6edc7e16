import type { Fault } from './dead-letter.ts';
import type { HeaderText, SignalRecord } from './signal-record.ts';
import type { TopicSpec } from './topics.ts';

/**
 * A kind of records: what the bus, the sinks and the audit must know to carry, store and count them, and all they know. What a record
 * means is known where the signal is made (docs/adr/0012-a-bus-that-does-not-know-what-a-record-means.md).
 */
export interface Signal<Own extends SignalRecord = SignalRecord> {
  /** The header `signal` of each of its records. */
  readonly name: string;
  readonly topic: TopicSpec;
  /** The header `sv` of records that this version reads. */
  readonly version: number;
  /** The values of the header `encoding` that it reads. */
  readonly encodings: readonly string[];
  /** Set where a record belongs to no tenant, since its rows are of many: its headers have tenant 0 and class 0, each row has its own. */
  readonly hasNoTenant?: true;
  /** Adds what only this signal has in its headers to a record whose common headers were read. The value is not touched. */
  decode(record: SignalRecord, header: HeaderText): Own | Fault;
  /** What the value has against the headers; null for nothing. Called once for each record, before it becomes part of a range. */
  check(record: Own): Fault | null;
  /**
   * When its table may drop each row of a checked record, in their order, milliseconds; null where it may drop none at `now`. `deletedAt`: since when the
   * rows of a tenant may be gone whatever their age, of records whose rows belong to many.
   */
  rowEnds(record: Own, now: number, deletedAt?: (tenantId: number) => number | null): readonly number[] | null;
}

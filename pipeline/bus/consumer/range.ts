import type { Fault } from '../records/dead-letter.ts';
import type { SignalRecord } from '../records/signal-record.ts';

/** The records of one partition from `start` to `end` (offsets, inclusive): what is stored whole, or not at all. */
export type Range<Own extends SignalRecord = SignalRecord> = {
  readonly topic: string;
  readonly partition: number;
  readonly start: number;
  readonly end: number;
  readonly rows: number;
  readonly records: readonly Own[];
  /**
   * Set where its rows may be stored already by ranges with other bounds, or other rows under its token: the append time of its last
   * record, milliseconds, which distinguishes it from a range of the same bounds that was truncated.
   */
  readonly inDoubt?: number | null;
};

/**
 * What became of a range: an empty list where it is stored whole, or the records that cannot be stored, and then none is. `too large`: the
 * table cannot take all of it at once. A part of it may be stored then, but no insert of a range with these bounds is running, and none
 * can begin any more; it is to be stored as smaller ranges, each in doubt. A range of one offset is never too large.
 */
export type Stored = readonly Refusal[] | 'too large';

/** A record that cannot be stored, and why. */
export type Refusal = { readonly record: SignalRecord; readonly fault: Fault };

/** Where ranges are stored. It must be safe to repeat for the same range, from any process, also with fewer of its records. */
export interface RangeStore {
  /** Stores the rows of a range. `again`: an earlier try may have stored it, or a part of it. */
  store(range: Range, again: boolean): Promise<Stored>;
  /** Whether one insert may store several ranges here. */
  joins(): Promise<boolean>;
  /**
   * Stores all rows of several ranges, none of which may be stored already, by one insert that is sent once. Rejects where they are not
   * known to be stored; then they may be, or be stored later, until the insert is fenced. `id` names the insert.
   */
  storeJointly(id: string, ranges: readonly Range[]): Promise<void>;
  /** Resolves when the insert of this id is over where this partition is stored, and can never begin any more there. Safe to repeat. */
  fence(id: string, partition: number): Promise<void>;
  /** The highest offset of a partition that has rows, from `from` on and appended from `since` on (milliseconds; null: ever); -1 where none has. */
  highest(partition: number, from: number, since: number | null): Promise<number>;
}

import type { Fault } from './dead-letter.ts';
import type { SignalRecord } from './record.ts';

/** The records of one partition from `start` to `end` (offsets, inclusive): what is stored by one insert, or not at all. */
export type Range<Own extends SignalRecord = SignalRecord> = {
  readonly topic: string;
  readonly partition: number;
  readonly start: number;
  readonly end: number;
  readonly rows: number;
  readonly records: readonly Own[];
  /**
   * Set where its rows may be stored already by ranges with other bounds, or other rows under its token: the append time of its last
   * record, milliseconds, which tells it from a range of the same bounds whose end the log has lost.
   */
  readonly inDoubt?: number | null;
};

/** A record that cannot be stored, and why. */
export type Refusal = { readonly record: SignalRecord; readonly fault: Fault };

/** Where ranges are stored. It must be safe to repeat for the same range, from any process, also with fewer of its records. */
export interface RangeStore {
  /**
   * Stores the rows of a range; resolves with an empty list when it is stored whole, or with the records that cannot be stored, and
   * then none is. `again`: an earlier try may have stored it, or a part of it.
   */
  store(range: Range, again: boolean): Promise<readonly Refusal[]>;
  /** The highest offset of a partition that has rows, from `from` on; -1 where none has. */
  highest(partition: number, from: number): Promise<number>;
}

import type { Fault, Original } from './dead-letter.ts';

/** The headers of a record that all signals share; docs/topics.md is the specification. */
export type RecordInfo = {
  readonly tenantId: number;
  /** Retention class in days; 0 keeps for ever. */
  readonly retentionDays: number;
  /** Entries in the value; 0 where a request has none and only its bytes count, and of a tick. */
  readonly count: number;
  /** Billable bytes of the requests whose first record this is. */
  readonly bytes: number;
  /** How the value is written. */
  readonly encoding: string;
};

/** A record as it is read. `offset` fits a number: 2^53 records are out of reach. */
export type SignalRecord = RecordInfo & {
  readonly partition: number;
  readonly offset: number;
  /** Append time, milliseconds; that of the original, where this is a replay. */
  readonly timestamp: number;
  readonly value: Buffer;
  /** The offset in this partition that the rows of a replayed record belong to; null for all others. */
  readonly replayOf: number | null;
  /** Why it cannot be read; it has no rows then. */
  readonly fault: Fault | null;
  readonly original: Original;
};

/** A header as a string; empty where there is none. */
export type HeaderText = (name: string) => string;

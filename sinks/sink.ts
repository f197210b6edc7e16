import type { Range } from '../pipeline/bus/consumer/range.ts';
import type { SignalRecord } from '../pipeline/bus/records/signal-record.ts';
import type { Signal } from '../pipeline/bus/records/signal.ts';
import type { Store } from '../pipeline/store/client.ts';

/**
 * More partitions than one insert can touch, so that none is ever refused: by day, month and year they are under 500 for any mix of
 * times and plans (docs/adr/0001), and under 3,500 in a table made before years ahead were grouped.
 */
export const MAX_PARTITIONS = '5000';

/** One statement that stores ranges, its body with the values of the records, and how ClickHouse must read it. */
export type Insert = {
  readonly text: string;
  readonly body: readonly Buffer[];
  /** Parameters of the request. */
  readonly settings?: Readonly<Record<string, number>>;
};

export type InsertOptions = {
  /** Another table of the same columns. */
  readonly table?: string;
  /** The id under which the insert may be fenced; the statement writes nothing then. */
  readonly fence?: string;
};

/** A table that is filled from a topic. Batching, retries and commits live once, in `writer.ts`. */
export interface Sink<Own extends SignalRecord = SignalRecord> {
  /** Names the consumer group and the metrics: `logs`. */
  readonly name: string;
  /** What it stores. */
  readonly signal: Signal<Own>;
  readonly table: string;
  /** Most bytes of records that are held until they are stored, where it needs fewer than the usual ones. */
  readonly heldBytes?: number;
  /** The same with knowledge of its own, for another set: absent where `prepare` knows nothing. */
  fresh?(): Sink<Own>;
  /** Forgets what `prepare` knows to be there: ClickHouse was restarted, or may have lost it. */
  forget(): void;
  /** Writes what must be there before the rows of these records are; safe to repeat. */
  prepare(records: readonly Own[], store: Store): Promise<void>;
  /** Of a range in doubt, and of replayed records, the statement leaves out the rows that are in the sink's table already. It heeds its fence. */
  insert(range: Range<Own>, options?: InsertOptions): Insert;
  /** One statement for several ranges, none of which is in doubt or has replayed records. Absent where there is none. */
  insertAll?(ranges: readonly Range<Own>[], options: InsertOptions): Insert;
}

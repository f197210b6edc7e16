import type { Range } from '../pipeline/bus/range.ts';
import type { SignalRecord } from '../pipeline/bus/record.ts';
import type { Signal } from '../pipeline/bus/signal.ts';
import type { Store } from '../pipeline/store/client.ts';

/**
 * More partitions than one insert can touch, so that none is ever refused: by day, month and year they are under 500 for any mix of
 * times and plans (docs/adr/0001), and under 3,500 in a table made before years ahead were grouped.
 */
export const MAX_PARTITIONS = '5000';

/** One statement that stores a range, its body with the values of the records, and how ClickHouse must read it. */
export type Insert = {
  readonly text: string;
  readonly body: readonly Buffer[];
  /** Parameters of the request. */
  readonly settings?: Readonly<Record<string, number>>;
};

/** A table that is filled from a topic. Batching, retries and commits live once, in `writer.ts`. */
export interface Sink<Own extends SignalRecord = SignalRecord> {
  /** Names the consumer group and the metrics: `logs`. */
  readonly name: string;
  /** What it stores. */
  readonly signal: Signal<Own>;
  readonly table: string;
  /** Forgets what `prepare` knows to be there: ClickHouse was restarted, or may have lost it. */
  forget(): void;
  /** Writes what must be there before the rows are; safe to repeat. */
  prepare(range: Range<Own>, store: Store): Promise<void>;
  /**
   * Rows of replayed records that are in the sink's table already are
   * left out by the statement. `table`: another one of the same columns.
   */
  insert(range: Range<Own>, table?: string): Insert;
}

import { setTimeout as sleep } from 'node:timers/promises';

/** One record of a compacted topic. A null value deletes the key. */
export type CompactedRecord = { readonly offset: bigint; readonly key: string; readonly value: string | null };

/** A compacted topic of one partition that every node reads as a whole; `pipeline/bus` implements it on Kafka. */
export interface CompactedLog {
  /**
   * Gives every record from the beginning up to the end that the topic has now, in order, then resolves. Rejects when Kafka cannot
   * be reached; it may then be called again, and starts from the beginning.
   */
  readAll(onRecord: (record: CompactedRecord) => void): Promise<void>;
  /**
   * Called once, after `readAll` has resolved: goes on with the record after the last one given, each exactly once and in order.
   * Resolves when that has begun. An outage of Kafka is ridden out inside, with retries, until `stop()`.
   */
  follow(onRecord: (record: CompactedRecord) => void): Promise<void>;
  /** Appends a record (acks=all) and gives its offset; rejects when Kafka has not acknowledged it within some seconds. */
  append(key: string, value: string | null): Promise<bigint>;
  /** Appends records in their order, several to a request. Where it rejects, some of them may be there. */
  appendAll(records: readonly Omit<CompactedRecord, 'offset'>[]): Promise<void>;
  /** Ends following and closes the clients; safe twice. */
  stop(): Promise<void>;
}

export type ReadOptions = {
  readonly signal: AbortSignal;
  /** The wait after the first failure in milliseconds; it doubles up to 5 s. */
  readonly retryMs: number;
  /** Called for each attempt that failed. */
  readonly onFailure: (error: unknown, retryMs: number) => void;
};

/** Reads a log to its end and begins to follow it, again and again until that works. False: the signal came first. */
export async function readAndFollow(
  log: CompactedLog,
  onRecord: (record: CompactedRecord) => void,
  { signal, retryMs, onFailure }: ReadOptions,
): Promise<boolean> {
  const stopped = (): boolean => signal.aborted;
  for (let wait = retryMs; !stopped(); wait = Math.min(wait * 2, 5000)) {
    try {
      await log.readAll(onRecord);
      await log.follow(onRecord);
      return true;
    } catch (error) {
      if (!stopped()) onFailure(error, wait);
      await sleep(wait, undefined, { signal }).catch(() => undefined);
    }
  }
  return false;
}

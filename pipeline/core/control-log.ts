/** One record of the compacted topic `control.v1`. */
export type ControlRecord = { readonly offset: bigint; readonly key: string; readonly value: string | null };

/** The topic of tenants, keys and flags (one partition), as the control store sees it; `pipeline/bus` implements it on Kafka. */
export interface ControlLog {
  /**
   * Gives every record from the beginning up to the end that the topic has now, in order, then resolves. Rejects when Kafka cannot
   * be reached; it may then be called again, and begins anew.
   */
  readAll(onRecord: (record: ControlRecord) => void): Promise<void>;
  /**
   * Called once, after `readAll` has resolved: goes on with the record after the last one given, each exactly once and in order.
   * Resolves when that has begun. An outage of Kafka is ridden out inside, with retries, until `stop()`.
   */
  follow(onRecord: (record: ControlRecord) => void): Promise<void>;
  /** Appends a record (acks=all) and gives its offset; rejects when Kafka has not acknowledged it within some seconds. */
  append(key: string, value: string | null): Promise<bigint>;
  /** Ends following and closes the clients; safe twice. */
  stop(): Promise<void>;
}

/** A record that Kafka has acknowledged: where it lies, and whose billable bytes it carries. */
export type SentRecord = {
  readonly partition: number;
  readonly offset: number;
  /** Append time, milliseconds. */ readonly timestamp: number;
  readonly tenantId: number;
  readonly bytes: number;
};

/** Called with the records that an answer of Kafka acknowledges, before their requests are answered. */
export type OnSent = (records: readonly SentRecord[]) => void;

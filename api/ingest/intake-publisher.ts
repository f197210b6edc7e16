import type { RowWriter, Written } from '../../pipeline/intake/rows.ts';
import type { ShardedRequest } from '../../pipeline/intake/signal-publisher.ts';

/** The way from a request's rows to Kafka, as the ingest route sees it. */
export interface IntakePublisher {
  /** A writer for one request. Throws HttpError 400 where its envelope cannot be read. */
  writer(request: ShardedRequest): RowWriter;
  /**
   * Resolves when Kafka has acknowledged every record of the request; rejects with HttpError 429 `backpressure` when it has not within 5 s, or
   * within `withinMs` where that is less.
   */
  publish(writer: RowWriter, acceptedBytes: number, withinMs?: number): Promise<Written>;
  /**
   * Throws HttpError 429 when the pipeline cannot take more of a tenant with a shard of this size now: called before the body is read, and
   * again before it is decoded.
   */
  admit(tenantId: number, shards: number): void;
}

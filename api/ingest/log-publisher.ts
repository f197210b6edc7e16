import type { EntryWriter, RequestOptions, Written } from '../../pipeline/logs/writer.ts';

/** The way from a request's entries to Kafka, as the ingest route sees it. */
export interface LogPublisher {
  /** A writer for one request. `expectedBytes` is the size of its body. */
  writer(options: RequestOptions, expectedBytes?: number): EntryWriter;
  /** Resolves when Kafka has acknowledged every record of the request; rejects with HttpError 429 `backpressure` when it cannot within 5 s. */
  publish(writer: EntryWriter, acceptedBytes: number): Promise<Written>;
  /**
   * Throws HttpError 429 when the pipeline cannot take more of a tenant with a shard of this size now: called before the body is read, and
   * again before it is decoded.
   */
  admit(tenantId: number, shards: number): void;
}

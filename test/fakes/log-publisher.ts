import type { LogPublisher } from '../../api/ingest/log-publisher.ts';
import { backpressure } from '../../pipeline/core/errors.ts';
import type { LogEntry } from '../../pipeline/core/entry.ts';
import { entriesOfChunk } from '../pipeline/logs/entry-lines.ts';
import { Shards } from '../../pipeline/logs/shard.ts';
import { EntryCodec, EntryWriter, type RequestOptions, type WriterOptions, type Written } from '../../pipeline/logs/writer.ts';

/** Keeps what it was given instead of sending it to Kafka. */
export class FakeLogPublisher implements LogPublisher {
  readonly written: { readonly options: WriterOptions; readonly bytes: number; readonly entries: readonly LogEntry[] }[] = [];
  /** `admit()` refuses. */
  full = false;
  /** After so many calls, too. */
  fullAfter = Infinity;
  /** `publish()` rejects. */
  failing = false;
  readonly #codec = new EntryCodec();
  readonly #shards = new Shards(2);

  writer({ shards, ...options }: RequestOptions, expectedBytes = 0): EntryWriter {
    return new EntryWriter(this.#codec, { ...options, partitions: this.#shards.of(options.tenantId, shards) }, expectedBytes);
  }

  admit(): void {
    if (this.full || --this.fullAfter < 0) throw backpressure();
  }

  publish(writer: EntryWriter, acceptedBytes: number): Promise<Written> {
    if (this.failing) return Promise.reject(backpressure());
    const { accepted, rejected, total, options } = writer;
    this.written.push({
      options,
      bytes: acceptedBytes,
      entries: writer.chunks().flatMap(entriesOfChunk),
    });
    return Promise.resolve({ accepted, rejected, total });
  }
}

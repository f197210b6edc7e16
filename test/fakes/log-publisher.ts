import type { LogPublisher } from '../../api/ingest/log-publisher.ts';
import { backpressure } from '../../pipeline/core/errors.ts';
import { Shards } from '../../pipeline/core/shard.ts';
import { EntryCodec, EntryWriter, type RequestOptions, type WriterOptions, type Written } from '../../pipeline/entry/writer.ts';

/** Keeps what it was given instead of sending it to Kafka. */
export class FakeLogPublisher implements LogPublisher {
  readonly written: { readonly options: WriterOptions; readonly bytes: number; readonly rows: string }[] = [];
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
      rows: writer
        .chunks()
        .map((chunk) => chunk.value.toString())
        .join(''),
    });
    return Promise.resolve({ accepted, rejected, total });
  }
}

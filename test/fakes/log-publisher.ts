import type { IntakePublisher } from '../../api/ingest/intake-publisher.ts';
import { backpressure } from '../../pipeline/core/errors.ts';
import type { LogEntry } from '../../pipeline/core/entry.ts';
import { entriesOfChunk } from '../pipeline/logs/entry-lines.ts';
import { Shards } from '../../pipeline/intake/shard.ts';
import type { Written } from '../../pipeline/intake/rows.ts';
import type { ShardedRequest } from '../../pipeline/intake/signal-publisher.ts';
import { createLogsIntake } from '../../pipeline/logs/logs-intake.ts';
import type { EntryWriter, WriterOptions } from '../../pipeline/logs/writer.ts';

/** Keeps what it was given instead of sending it to Kafka. */
export class FakeLogPublisher implements IntakePublisher {
  readonly written: { readonly options: WriterOptions; readonly bytes: number; readonly entries: readonly LogEntry[] }[] = [];
  /** `admit()` refuses. */
  full = false;
  /** After so many calls, too. */
  fullAfter = Infinity;
  /** `publish()` rejects. */
  failing = false;
  readonly #intake = createLogsIntake();
  readonly #shards = new Shards(2);

  writer({ shards, ...request }: ShardedRequest): EntryWriter {
    return this.#intake.writer({ ...request, partitions: this.#shards.of(request.tenantId, shards) });
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

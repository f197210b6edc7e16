import { RecordPublisher, tooLate, type RecordPublisherOptions } from '../bus/producer/record-publisher.ts';
import { backpressure } from '../core/errors.ts';
import type { Service } from '../core/service.ts';
import { OpenRecord, type RecordOwner } from './open-record.ts';
import { retentionClass } from './retention.ts';
import type { Intake, RowChunk, RowsRequest, RowWriter, Written } from './rows.ts';
import { Shards } from './shard.ts';

/** What a writer is made for, where of the tenant's shard only the size is known: how many partitions it has. */
export type ShardedRequest = Omit<RowsRequest, 'partitions'> & { readonly shards: number };

/** Bytes of one tenant that wait for Kafka; it is refused while there are more. What all may have is four times as much. */
const MAX_OWN_BYTES = 16 * 1024 * 1024;
/** What a request puts on the log at once: entries of others wait behind it. */
const PORTION_BYTES = 4 * 1024 * 1024;
/** The open records are looked through for closed ones when there are this many more than at the last time. */
const SWEEP_EVERY = 1000;

/** Puts the rows of requests on the topic of a signal. Small requests of one tenant share records while these wait for their send. */
export class SignalPublisher<Writer extends RowWriter = RowWriter> implements Service {
  readonly name: string;
  readonly #intake: Intake<Writer>;
  readonly #publisher: RecordPublisher;
  /** The record of each owner that more may be appended to. */
  readonly #open = new Map<string, OpenRecord>();
  /** What waits for Kafka of each tenant, bytes. */
  readonly #held = new Map<number, number>();
  #sweepAt = SWEEP_EVERY;
  #shards: Shards | null = null;

  constructor(intake: Intake<Writer>, options: Omit<RecordPublisherOptions, 'topic'>) {
    this.#intake = intake;
    this.#publisher = new RecordPublisher({ ...options, topic: intake.signal.topic.name });
    this.name = this.#publisher.name;
  }

  async start(): Promise<void> {
    await this.#publisher.start();
    this.#shards = new Shards(this.#publisher.partitions);
  }

  stop(): Promise<void> {
    return this.#publisher.stop();
  }

  /** A writer for the rows of one request. Throws HttpError 400 where its envelope cannot be read. */
  writer({ shards, ...request }: ShardedRequest): Writer {
    if (this.#shards === null) throw backpressure();
    return this.#intake.writer({ ...request, partitions: this.#shards.of(request.tenantId, shards) });
  }

  /** How many partitions the topic has; 0 as long as that is not known. */
  get partitions(): number {
    return this.#shards?.partitions ?? 0;
  }

  /** Throws HttpError 429 `backpressure` while more is waiting than may wait: of the tenant, in all, or in the tenant's shard. */
  admit(tenantId: number, shards: number): void {
    if (this.#shards === null) throw backpressure();
    if ((this.#held.get(tenantId) ?? 0) > MAX_OWN_BYTES)
      throw backpressure(`The log pipeline cannot take more ${this.#intake.unit} of this tenant right now.`);
    this.#publisher.admit(this.#shards.of(tenantId, shards));
  }

  /** True while it runs and, by the outcome of its last sends, Kafka accepts what it sends. */
  get ready(): boolean {
    return this.#publisher.ready;
  }

  /** Bytes that wait for Kafka. */
  get pendingBytes(): number {
    return this.#publisher.pendingBytes;
  }

  /**
   * Resolves when Kafka has acknowledged every record that has rows of the request. Rejects with HttpError 429 `backpressure` when a send
   * failed or not all came back within 5 s (`withinMs` where that is less), however many portions they are: the rows are then stored once or
   * not at all.
   */
  async publish(writer: Writer, acceptedBytes: number, withinMs = Infinity): Promise<Written> {
    const deadline = performance.now() + Math.min(withinMs, this.#publisher.deadlineMs);
    const { rejected, total, accepted } = writer;
    const { tenantId, partitions } = writer.options;
    const retentionDays = retentionClass(writer.options.retentionDays);
    const [partition = 0] = partitions;
    const chunks = writer.chunks();
    // one whose rows were all rejected has none of them, but its bytes count
    if (chunks.length === 0 && acceptedBytes > 0)
      await this.#publisher.acknowledged(new Set([this.#bill({ partition, tenantId, retentionDays }, acceptedBytes)]), deadline);
    const bytes = chunks.reduce((sum, chunk) => sum + chunk.size, 0);
    this.#hold(tenantId, bytes);
    try {
      for (const [index, portion] of portionsOf(chunks).entries()) {
        if (index > 0 && performance.now() >= deadline) throw tooLate();
        const records = portion.map((chunk, at) =>
          this.#append({ partition: chunk.partition, tenantId, retentionDays }, chunk, index + at === 0 ? acceptedBytes : 0),
        );
        await this.#publisher.acknowledged(new Set(records), deadline);
      }
    } finally {
      this.#hold(tenantId, -bytes);
    }
    return { accepted, rejected, total };
  }

  #hold(tenantId: number, bytes: number): void {
    const held = (this.#held.get(tenantId) ?? 0) + bytes;
    if (held === 0) this.#held.delete(tenantId);
    else this.#held.set(tenantId, held);
  }

  #append(owner: RecordOwner, chunk: RowChunk, bytes: number): OpenRecord {
    const open = this.#open.get(keyOf(owner));
    if (open?.takes(chunk) === true) {
      // by less than the chunk has where they share streams
      const before = open.size;
      open.append(chunk, bytes);
      this.#publisher.grew(owner.partition, open.size - before);
      return open;
    }
    const record = new OpenRecord(this.#intake.signal, owner);
    record.append(chunk, bytes);
    return this.#enqueue(owner, record);
  }

  #bill(owner: RecordOwner, bytes: number): OpenRecord {
    const open = this.#open.get(keyOf(owner));
    const record = open?.isOpen === true ? open : this.#enqueue(owner, new OpenRecord(this.#intake.signal, owner));
    record.bill(bytes);
    return record;
  }

  #enqueue(owner: RecordOwner, record: OpenRecord): OpenRecord {
    this.#publisher.enqueue(record);
    this.#open.set(keyOf(owner), record);
    if (this.#open.size >= this.#sweepAt) this.#sweep();
    return record;
  }

  #sweep(): void {
    for (const [key, record] of this.#open) if (!record.isOpen) this.#open.delete(key);
    this.#sweepAt = this.#open.size + SWEEP_EVERY;
  }
}

/** Few bytes of a body may be many rows: they are put on the log in portions, each when the one before is there. */
function portionsOf(chunks: readonly RowChunk[]): RowChunk[][] {
  const portions: RowChunk[][] = [];
  let budget = 0;
  for (const chunk of chunks) {
    if (chunk.size > budget) {
      portions.push([]);
      budget = PORTION_BYTES;
    }
    budget -= chunk.size;
    portions.at(-1)?.push(chunk);
  }
  return portions;
}

const keyOf = ({ partition, tenantId, retentionDays }: RecordOwner): string =>
  `${String(partition)}/${String(tenantId)}/${String(retentionDays)}`;

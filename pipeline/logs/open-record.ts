import { SharedRecord, type Compression, type SealedRecord } from '../bus/producer/pending-record.ts';
import type { Chunk } from './chunk.ts';
import { encodeLogHeaders } from './record.ts';
import { COLUMNS } from '../rows/native.ts';

/** Whose entries a record holds, and where it goes. */
export type RecordOwner = { readonly partition: number; readonly tenantId: number; readonly retentionDays: number };

/**
 * A record that more entries may be appended to while it waits for its send. It is encoded and compressed once, when it is sealed, so
 * Kafka does not compress it again.
 */
export class OpenRecord extends SharedRecord {
  readonly compression: Compression = 'none';
  readonly #owner: RecordOwner;
  #chunk: Chunk | null = null;
  #bytes = 0;

  constructor(owner: RecordOwner) {
    super();
    this.#owner = owner;
  }

  get partition(): number {
    return this.#owner.partition;
  }

  /** Of its columns, before they are compressed: what it takes up in memory. */
  get size(): number {
    return this.#chunk?.size ?? 0;
  }

  /** Whether the entries of a chunk may be appended. */
  takes(chunk: Chunk): boolean {
    return this.isOpen && (this.#chunk === null || this.#chunk.fits(chunk));
  }

  /** `bytes`: what the request of the chunk is billed for with this record. The chunk belongs to the record from now on. */
  append(chunk: Chunk, bytes: number): void {
    if (this.#chunk === null) this.#chunk = chunk;
    else this.#chunk.append(chunk);
    this.#bytes += bytes;
  }

  /** A request without entries, which is billed all the same. */
  bill(bytes: number): void {
    this.#bytes += bytes;
  }

  protected finish(): SealedRecord {
    const [chunk, bytes] = [this.#chunk, this.#bytes];
    const { tenantId, retentionDays } = this.#owner;
    const info = { tenantId, retentionDays, count: chunk?.count ?? 0, bytes, encoding: COLUMNS };
    this.#chunk = null;
    const { value, streams } = chunk?.encode() ?? NOTHING;
    return { value, headers: encodeLogHeaders(info, streams), info: { tenantId, bytes } };
  }
}

const NOTHING = { value: Buffer.alloc(0), streams: Buffer.alloc(0) };

import { encodeHeaders } from '../bus/records/record.ts';
import { SharedRecord, type Compression, type SealedRecord } from '../bus/producer/pending-record.ts';
import type { EncodedRows, Intake, RowChunk } from './rows.ts';

/** Whose rows a record holds, and where it goes. */
export type RecordOwner = { readonly partition: number; readonly tenantId: number; readonly retentionDays: number };

/**
 * A record that more rows may be appended to while it waits for its send. It is encoded and compressed once, when it is sealed, so
 * Kafka does not compress it again.
 */
export class OpenRecord extends SharedRecord {
  readonly compression: Compression = 'none';
  readonly #signal: Intake['signal'];
  readonly #owner: RecordOwner;
  #chunk: RowChunk | null = null;
  #bytes = 0;

  constructor(signal: Intake['signal'], owner: RecordOwner) {
    super();
    this.#signal = signal;
    this.#owner = owner;
  }

  get partition(): number {
    return this.#owner.partition;
  }

  /** Of its rows, before they are compressed: what it takes up in memory. */
  get size(): number {
    return this.#chunk?.size ?? 0;
  }

  /** Whether the rows of a chunk may be appended. */
  takes(chunk: RowChunk): boolean {
    return this.isOpen && (this.#chunk === null || this.#chunk.fits(chunk));
  }

  /** `bytes`: what the request of the chunk is billed for with this record. The chunk belongs to the record from now on. */
  append(chunk: RowChunk, bytes: number): void {
    if (this.#chunk === null) this.#chunk = chunk;
    else this.#chunk.append(chunk);
    this.#bytes += bytes;
  }

  /** A request without rows, which is billed all the same. */
  bill(bytes: number): void {
    this.#bytes += bytes;
  }

  protected finish(): SealedRecord {
    const [chunk, bytes] = [this.#chunk, this.#bytes];
    const { tenantId, retentionDays } = this.#owner;
    const count = chunk?.count ?? 0;
    this.#chunk = null;
    const { value, encoding, headers } = chunk?.encode() ?? { ...NOTHING, encoding: this.#signal.encodings[0] ?? '' };
    const info = { tenantId, retentionDays, count, bytes, encoding };
    return { value, headers: encodeHeaders(this.#signal, info, headers), info: { tenantId, bytes } };
  }
}

const NOTHING: Omit<EncodedRows, 'encoding'> = { value: Buffer.alloc(0), headers: {} };

import { SharedRecord, type Compression, type SealedRecord } from '../bus/pending-record.ts';
import type { Chunk } from './chunk.ts';
import { encodeLogHeaders, NDJSON } from './record.ts';

/** Whose rows a record holds, and where it goes. */
export type RecordOwner = { readonly partition: number; readonly tenantId: number; readonly retentionDays: number };

/** Most bytes of one record that several chunks share. */
const MAX_RECORD_BYTES = 900_000;

/** A record of rows that more may be appended to while it waits for its send. */
export class OpenRecord extends SharedRecord {
  readonly compression: Compression = 'snappy';
  readonly #owner: RecordOwner;
  readonly #values: Buffer[] = [];
  readonly #streams = new Map<string, { readonly text: string; days: readonly number[] }>();
  #size = 0;
  #count = 0;
  #bytes = 0;

  constructor(owner: RecordOwner) {
    super();
    this.#owner = owner;
  }

  get partition(): number {
    return this.#owner.partition;
  }

  get size(): number {
    return this.#size;
  }

  /** Whether the rows of a chunk may be appended. */
  takes({ value }: Chunk): boolean {
    return this.isOpen && this.#size + value.length <= MAX_RECORD_BYTES;
  }

  /** `bytes`: what the request of the chunk is billed for with this record. */
  append(chunk: Chunk, bytes: number): void {
    if (chunk.value.length > 0) this.#values.push(chunk.value);
    this.#size += chunk.value.length;
    this.#count += chunk.count;
    this.#bytes += bytes;
    for (const { id, text, days } of chunk.streams) {
      const known = this.#streams.get(id);
      if (known === undefined) this.#streams.set(id, { text, days });
      else if (days.some((day) => !known.days.includes(day))) known.days = [...new Set([...known.days, ...days])];
    }
  }

  protected finish(): SealedRecord {
    const [tenantId, bytes] = [this.#owner.tenantId, this.#bytes];
    const info = { tenantId, retentionDays: this.#owner.retentionDays, count: this.#count, bytes, encoding: NDJSON };
    const [first = NO_ROWS, ...more] = this.#values;
    return {
      value: more.length === 0 ? first : Buffer.concat(this.#values),
      headers: encodeLogHeaders({ ...info, streams: this.#streams }),
      info: { tenantId, bytes },
    };
  }
}

const NO_ROWS = Buffer.alloc(0);

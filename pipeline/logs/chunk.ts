import type { EncodedRows, RowChunk } from '../intake/rows.ts';
import { placeOf, tenantSeed } from '../intake/shard.ts';
import { encodeColumns } from './columns/column-encoder.ts';
import { LogColumns, type Vocabulary } from './columns/log-columns.ts';
import { StreamList } from './stream-list.ts';
import { COLUMNS } from '../rows/native.ts';
import type { Stream } from './streams.ts';

/** Most bytes of a record's columns before they are compressed, unless one entry alone has more. */
const MAX_CHUNK_BYTES = 2_000_000;

/** How many rows columns hold at first, and how many of each are put aside for the next request. */
const SIZES = [
  { rows: 16, spare: 64 },
  { rows: 256, spare: 16 },
  { rows: 2048, spare: 8 },
];
/** Larger columns are not put aside: one large request would keep their memory for ever. */
const MAX_SPARE_BYTES = 4_000_000;

/** What the entries of a chunk are collected in. */
type Parts = { readonly columns: LogColumns; readonly streams: StreamList };

/** Gives columns and lists that were used before, so that neither memory nor its pages are allocated at each request. */
export class ColumnPool {
  readonly #vocabulary: Vocabulary;
  readonly #spare = SIZES.map((size) => ({ ...size, parts: [] as Parts[] }));

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary;
  }

  /** Empty ones; `rows`: about how many there will be. */
  take(rows: number): Parts {
    const size = this.#spare.find((one) => rows <= one.rows) ?? this.#spare.at(-1);
    return size?.parts.pop() ?? { columns: new LogColumns(this.#vocabulary, size?.rows ?? 1), streams: new StreamList() };
  }

  /** Takes back what is no longer used. */
  give(parts: Parts): void {
    const { columns, streams } = parts;
    // those that have grown are as good as larger ones
    const size = this.#spare.findLast((one) => one.rows <= columns.capacity);
    if (size === undefined || size.parts.length >= size.spare || columns.bytes + streams.memory > MAX_SPARE_BYTES) return;
    columns.clear();
    streams.clear();
    size.parts.push(parts);
  }
}

/** Entries of one tenant for one partition, as columns: a record, or a part of one, until it is encoded. */
export class Chunk implements RowChunk {
  readonly partition: number;
  readonly streams: StreamList;
  readonly columns: LogColumns;
  readonly #pool: ColumnPool;

  constructor(partition: number, pool: ColumnPool, rows: number) {
    this.partition = partition;
    this.#pool = pool;
    ({ columns: this.columns, streams: this.streams } = pool.take(rows));
  }

  get count(): number {
    return this.columns.count;
  }

  /**
   * About how many bytes its columns have before they are compressed, and its streams in the header: a batch of Kafka holds 8 MiB of both,
   * and one that is larger is refused with all other records of its send, of whatever tenant.
   */
  get size(): number {
    return this.columns.size + this.streams.bytes;
  }

  /** True while another chunk fits into the same record. */
  fits(other: Chunk): boolean {
    const { columns } = other;
    return this.size + other.size <= MAX_CHUNK_BYTES && this.columns.fits(columns.count, columns.names.words.length);
  }

  /** Adds the entries of another chunk, which must not be used any more. */
  append(other: Chunk): void {
    this.columns.append(other.columns);
    this.streams.append(other.streams);
    other.discard();
  }

  /** The value of its record, and the header of its streams. The chunk must not be used any more. */
  encode(): EncodedRows {
    const encoded = { value: encodeColumns(this.columns), encoding: COLUMNS, headers: { streams: this.streams.encode() } };
    this.discard();
    return encoded;
  }

  /** Gives its memory back. */
  discard(): void {
    this.#pool.give(this);
  }
}

/** Sorts the entries of one request by partition. */
export class ChunkBuilder {
  /** Entries taken so far. */
  count = 0;
  readonly #pool: ColumnPool;
  readonly #partitions: readonly number[];
  readonly #seed: number;
  /** The chunk that is being filled, by the place of its partition in the shard. */
  readonly #open: (Chunk | undefined)[];
  readonly #done: Chunk[] = [];
  readonly #rows: number;
  #doneBytes = 0;

  /** `partitions`: the tenant's shard. `expectedBytes`: the size of the request's body. */
  constructor(
    pool: ColumnPool,
    { tenantId, partitions }: { readonly tenantId: number; readonly partitions: readonly number[] },
    expectedBytes: number,
  ) {
    this.#pool = pool;
    this.#partitions = partitions;
    this.#seed = tenantSeed(tenantId);
    this.#open = new Array<Chunk | undefined>(partitions.length).fill(undefined);
    this.#rows = expectedBytes / 200;
  }

  /** About how many bytes the entries have before they are compressed. */
  get bytes(): number {
    let bytes = this.#doneBytes;
    for (const chunk of this.#open) bytes += chunk?.size ?? 0;
    return bytes;
  }

  /** The columns for an entry of this stream and day, of at most `bound` bytes and `fields` fields. */
  open(stream: Stream, day: number, bound: number, fields: number): LogColumns {
    const place = placeOf(this.#seed, stream.low, this.#partitions.length);
    let chunk = this.#open[place];
    if (chunk !== undefined && (chunk.size + bound > MAX_CHUNK_BYTES || !chunk.columns.fits(1, fields))) {
      this.#done.push(chunk);
      this.#doneBytes += chunk.size;
      chunk = undefined;
    }
    if (chunk === undefined) {
      chunk = new Chunk(this.#partitions[place] as number, this.#pool, this.#rows);
      this.#open[place] = chunk;
    }
    chunk.streams.add(stream, day);
    this.count += 1;
    return chunk.columns;
  }

  finish(): Chunk[] {
    const chunks = [...this.#done, ...this.#open.filter((chunk) => chunk !== undefined)];
    this.#done.length = 0;
    this.#open.fill(undefined);
    return chunks;
  }
}

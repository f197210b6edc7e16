import type { Signal } from '../bus/records/signal.ts';
import type { Layout } from '../rows/layout.ts';
import { COLUMNS, MAX_ROWS } from '../rows/native.ts';
import { Rejections } from './rejections.ts';
import type { EncodedRows, Intake, RowChunk, RowsOwner, RowWriter } from './rows.ts';
import { placeOf, tenantSeed } from './shard.ts';

/** Most bytes of a record's rows before they are compressed, about, unless one row alone has more. */
const MAX_CHUNK_BYTES = 2_000_000;

/** Rows of a layout for one partition. */
export class LayoutChunk<Row extends object> implements RowChunk {
  readonly partition: number;
  readonly rows: Row[] = [];
  size = 0;
  readonly #layout: Layout<Row>;

  constructor(layout: Layout<Row>, partition: number) {
    this.#layout = layout;
    this.partition = partition;
  }

  get count(): number {
    return this.rows.length;
  }

  add(row: Row, bytes: number): void {
    this.rows.push(row);
    this.size += bytes;
  }

  fits({ size, count }: Pick<RowChunk, 'size' | 'count'>): boolean {
    return this.size + size <= MAX_CHUNK_BYTES && this.count + count <= MAX_ROWS;
  }

  append({ rows, size }: LayoutChunk<Row>): void {
    for (const row of rows) this.rows.push(row);
    this.size += size;
  }

  encode(): EncodedRows {
    return { value: this.#layout.encode(this.rows), encoding: COLUMNS, headers: {} };
  }
}

/** Takes rows of a layout as objects: for signals whose normalizers make few of them, or that are not in a hurry. */
export class LayoutWriter<Row extends object> implements RowWriter {
  readonly options: RowsOwner & { readonly maxRowBytes: number };
  readonly rejected = new Rejections();
  readonly limited = 0;
  accepted = 0;
  total = 0;
  readonly #layout: Layout<Row>;
  readonly #seed: number;
  /** The chunk that is being filled, by the place of its partition in the shard. */
  readonly #open = new Map<number, LayoutChunk<Row>>();
  readonly #done: LayoutChunk<Row>[] = [];
  #bytes = 0;

  constructor(layout: Layout<Row>, options: RowsOwner & { readonly maxRowBytes: number }) {
    this.#layout = layout;
    this.options = options;
    this.#seed = tenantSeed(options.tenantId);
  }

  /**
   * Takes a row of about so many bytes, which lies at `source[from..to)`. Rows of one `hash` (32 bits) go to one partition of the tenant's
   * shard.
   */
  add(row: Row, hash: number, bytes: number, source: Buffer, from = 0, to = source.length): void {
    const { maxRowBytes, partitions } = this.options;
    if (this.#bytes + bytes > maxRowBytes) {
      this.reject(`the rows before it take more than ${String(maxRowBytes)} bytes as they are stored`, source, from, to);
      return;
    }
    const place = placeOf(this.#seed, hash, partitions.length);
    let chunk = this.#open.get(place);
    if (chunk?.fits({ size: bytes, count: 1 }) === false) {
      this.#done.push(chunk);
      chunk = undefined;
    }
    if (chunk === undefined) {
      chunk = new LayoutChunk(this.#layout, partitions[place] as number);
      this.#open.set(place, chunk);
    }
    chunk.add(row, bytes);
    this.#bytes += bytes;
    this.accepted += 1;
    this.total += 1;
  }

  /** Counts a row that is not taken. The reason is general; `detail` is about this one. */
  reject(reason: string, source?: Buffer, from?: number, to?: number, detail: (() => string) | null = null): void {
    this.rejected.add(this.total, reason, source, from, to, detail);
    this.total += 1;
  }

  chunks(): RowChunk[] {
    const chunks = [...this.#done, ...this.#open.values()];
    this.#done.length = 0;
    this.#open.clear();
    return chunks;
  }
}

/** The intake of a signal whose rows are objects of a layout. `unit`: what its limits count, as a plural. */
export const layoutIntake = <Row extends object>(signal: Signal, layout: Layout<Row>, unit: string): Intake<LayoutWriter<Row>> => ({
  signal,
  unit,
  writer: (request) => new LayoutWriter(layout, request),
});

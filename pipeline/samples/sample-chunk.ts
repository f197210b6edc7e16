import type { EncodedRows, RowChunk } from '../intake/rows.ts';
import { COLUMNS } from '../rows/native.ts';
import { ActiveSeries } from './active-series.ts';
import type { PageScope } from './definition-list.ts';
import { DefinitionPages, PAGE_DEFINITIONS } from './definition-pages.ts';
import { FIELD, KnownSeries } from './known-series.ts';
import { ColumnPool } from './column-pool.ts';
import type { SampleColumns } from './sample-columns.ts';
import { DEFINITION_PAGES, DEFINITIONS_AT } from './samples-record.ts';

/** What a record's rows have before they are compressed, about. */
const CHUNK_BYTES = 2_000_000;
/** A definition is at most so large: its labels in JSON, six bytes for one, and what is known of its metric. */
const MAX_NATIVE_BYTES = 600_000;

/** What a process needs to write samples, shared by all requests. */
export class SamplesCodec {
  readonly known = new KnownSeries();
  readonly active = new ActiveSeries();
  readonly pages = new DefinitionPages();
  readonly columns = new ColumnPool();
}

/** Samples for one partition. */
export class SampleChunk implements RowChunk {
  static #made = 0;
  readonly partition: number;
  readonly #codec: SamplesCodec;
  readonly #scope: PageScope;
  readonly columns: SampleColumns;
  /** By it series know that they are in its list. */
  readonly serial: number = (SampleChunk.#made = (SampleChunk.#made % 0x7fff_fffe) + 1);

  constructor(codec: SamplesCodec, scope: PageScope, partition: number) {
    this.#codec = codec;
    this.#scope = scope;
    this.partition = partition;
    this.columns = codec.columns.take();
  }

  get count(): number {
    return this.columns.count;
  }

  get size(): number {
    return this.columns.size;
  }

  fits({ columns }: SampleChunk): boolean {
    const { count, content } = columns.definitions;
    return this.size + columns.size <= CHUNK_BYTES && this.columns.fits(columns.count, count, content);
  }

  /** Whether any row of this tenant fits: a page may come with it. */
  get hasRoom(): boolean {
    return this.size <= CHUNK_BYTES && this.columns.fits(1, PAGE_DEFINITIONS, MAX_NATIVE_BYTES);
  }

  /** The code of an entry of the table of known series, whose definition comes in. */
  define(at: number): number {
    const { known, pages } = this.#codec;
    const { entries, bytes } = known.table;
    const { definitions } = this.columns;
    const number = entries[at + FIELD.page] as number;
    const page = number === 0 ? undefined : pages.of(number, this.#scope);
    if (page !== undefined) return definitions.use(page, entries[at + FIELD.place] as number);
    const native = entries[at + FIELD.nativeAt] as number;
    const end = native + (entries[at + FIELD.nativeLength] as number);
    return definitions.add(entries[at + FIELD.low] as number, entries[at + FIELD.high] as number, bytes, native, end, at);
  }

  append({ columns }: SampleChunk): void {
    this.columns.append(columns);
    this.#codec.columns.give(columns);
  }

  encode(): EncodedRows {
    const { known, pages } = this.#codec;
    const framed = pages.framesOf(this.columns.definitions, known.table, this.#scope);
    const { value, definitionsAt, ...cut } = this.columns.encode(framed);
    this.#codec.columns.give(this.columns);
    return {
      value,
      encoding: COLUMNS,
      headers: { [DEFINITIONS_AT]: String(definitionsAt), [DEFINITION_PAGES]: `${String(cut.pages)},${String(cut.loose)}` },
    };
  }
}

import { bytesOf, putStrings } from '../rows/column-writer.ts';
import { framesOf, type FrameWriter } from '../rows/frames.ts';
import { DICTIONARY_FLAGS, DICTIONARY_VERSION, MAX_KEYS, MAX_ROWS } from '../rows/native.ts';
import { StringColumn } from '../rows/string-column.ts';
import { DefinitionList, type Codes } from './definition-list.ts';
import type { PagedFrames } from './definition-pages.ts';
import { definitionLayout, sampleLayout } from './sample.ts';

const FIRST_ROWS = 256;
/** What a row takes beside its definition and its payload. */
const ROW_BYTES = 36;
const WORD = 4_294_967_296;

/** Most bytes of the definitions of a record before they are compressed: a reader takes 32 MiB. */
const MAX_CONTENT_BYTES = 16 * 1024 * 1024;

/** The value of a record, where its second part begins, and how that is cut: frames of whole definitions, and how many follow behind these. */
export type EncodedSamples = { readonly value: Buffer; readonly definitionsAt: number; readonly pages: number; readonly loose: number };

/** Rows of samples as columns that grow: what a record of `samples.v1` is before it is encoded. */
export class SampleColumns {
  count = 0;
  /** What the rows' series are, and which of them each row has. */
  readonly definitions = new DefinitionList();
  #types = Buffer.alloc(FIRST_ROWS);
  /** Two words of 32 bits for each row. */
  #series = new Uint32Array(2 * FIRST_ROWS);
  #times = new Uint32Array(2 * FIRST_ROWS);
  #starts = new Uint32Array(2 * FIRST_ROWS);
  #values = new Uint32Array(2 * FIRST_ROWS);
  /** Below zero for loose definitions. */
  #codes = new Int32Array(FIRST_ROWS);
  readonly #payloads = new StringColumn(FIRST_ROWS);

  /** The memory that they have, about. */
  get capacity(): number {
    return this.#codes.length * ROW_BYTES + this.#payloads.bytes.length + this.definitions.natives.length;
  }

  /** Forgets all rows, and keeps its memory. */
  clear(): void {
    this.count = 0;
    this.definitions.clear();
    this.#payloads.clear();
  }

  /** About what the encoded columns have before they are compressed. */
  get size(): number {
    return this.count * ROW_BYTES + this.#payloads.length + this.definitions.size;
  }

  /** Whether so many more rows, with so many definitions of so many bytes, fit into one record. */
  fits(rows: number, definitions: number, bytes: number): boolean {
    const { count, content } = this.definitions;
    return this.count + rows <= MAX_ROWS && count + definitions <= MAX_KEYS && content + bytes <= MAX_CONTENT_BYTES;
  }

  /**
   * Adds a row of the definition `code`, whose series has an id of two halves, without its payload, which is to be added next. Times are whole
   * milliseconds, the value is bits.
   */
  add(type: number, code: number, idLow: number, idHigh: number, time: number, start: number, low: number, high: number): void {
    const row = this.count;
    if (row === this.#codes.length) this.#grow(row + 1);
    const at = 2 * row;
    this.#types[row] = type;
    this.#series[at] = idLow;
    this.#series[at + 1] = idHigh;
    const timeHigh = Math.floor(time / WORD);
    this.#times[at] = time - timeHigh * WORD;
    this.#times[at + 1] = timeHigh;
    const startHigh = Math.floor(start / WORD);
    this.#starts[at] = start - startHigh * WORD;
    this.#starts[at + 1] = startHigh;
    this.#values[at] = low;
    this.#values[at + 1] = high;
    this.#codes[row] = code;
    this.count = row + 1;
  }

  /** The payload of a row that has none. */
  noPayload(): void {
    this.#payloads.empty();
  }

  payload(bytes: Uint8Array): void {
    this.#payloads.raw(bytes, 0, bytes.length);
  }

  /** Adds all rows of others. */
  append(other: SampleColumns): void {
    const { count } = this;
    const rows = other.count;
    if (count + rows > this.#codes.length) this.#grow(count + rows);
    other.#types.copy(this.#types, count, 0, rows);
    this.#series.set(other.#series.subarray(0, 2 * rows), 2 * count);
    this.#times.set(other.#times.subarray(0, 2 * rows), 2 * count);
    this.#starts.set(other.#starts.subarray(0, 2 * rows), 2 * count);
    this.#values.set(other.#values.subarray(0, 2 * rows), 2 * count);
    const codes = this.definitions.append(other.definitions);
    for (let row = 0; row < rows; row++) this.#codes[count + row] = codeIn(codes, other.#codes[row] as number);
    this.#payloads.append(other.#payloads.bytes.subarray(0, other.#payloads.length));
    this.count = count + rows;
  }

  /** The value of a record. `paged`: what its definitions are in frames, but for the loose ones at the end. */
  encode({ frames, loose }: PagedFrames): EncodedSamples {
    const { count } = this;
    const numbers = framesOf((to) => {
      put(to, 'type', this.#types.subarray(0, count));
      put(to, 'series', bytesOf(this.#series, 8 * count));
      put(to, 'time', bytesOf(this.#times, 8 * count));
      put(to, 'start', bytesOf(this.#starts, 8 * count));
      put(to, 'value', bytesOf(this.#values, 8 * count));
      to.put(sampleLayout.head('payload').bytes);
      putStrings(to, this.#payloads);
    });
    const { definitions } = this;
    const isWide = definitions.count > 256;
    const head = framesOf((to) => {
      to.put(definitionLayout.head('definition').bytes);
      to.putNumber(DICTIONARY_VERSION);
      to.putNumber((isWide ? 1 : 0) | DICTIONARY_FLAGS);
      to.putNumber(definitions.count);
    });
    const tail = framesOf((to) => {
      to.put(definitions.bytesOf(definitions.loose - loose));
      to.putNumber(count);
      to.put(this.#finalCodes(isWide));
    });
    return { value: Buffer.concat([numbers, head, ...frames, tail]), definitionsAt: numbers.length, pages: frames.length, loose };
  }

  /** Loose definitions stand behind those of pages. */
  #finalCodes(isWide: boolean): Uint8Array {
    const { count } = this;
    const { paged } = this.definitions;
    const codes = isWide ? new Uint16Array(count) : new Uint8Array(count);
    for (let row = 0; row < count; row++) {
      const code = this.#codes[row] as number;
      codes[row] = code < 0 ? paged - 1 - code : code;
    }
    return new Uint8Array(codes.buffer);
  }

  #grow(rows: number): void {
    const capacity = Math.max(rows, 2 * this.#codes.length);
    const types = Buffer.alloc(capacity);
    this.#types.copy(types);
    this.#types = types;
    this.#series = widened(this.#series, 2 * capacity);
    this.#times = widened(this.#times, 2 * capacity);
    this.#starts = widened(this.#starts, 2 * capacity);
    this.#values = widened(this.#values, 2 * capacity);
    const codes = new Int32Array(capacity);
    codes.set(this.#codes);
    this.#codes = codes;
  }
}

/** A code of one list as that of another. */
const codeIn = ({ paged, loose }: Codes, code: number): number => (code < 0 ? loose[-1 - code] : paged[code]) as number;

function put(to: FrameWriter, column: string, bytes: Uint8Array): void {
  to.put(sampleLayout.head(column).bytes);
  to.put(bytes);
}

function widened(column: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(length);
  larger.set(column);
  return larger;
}

import { readFrames } from '../logs/columns/frames.ts';
import { MAX_ROWS } from '../logs/columns/layout.ts';
import { StringView } from '../logs/columns/string-view.ts';

const DAY = 86_400;
/** The first day of which the log has entries, and the last second that it can represent. Seconds. */
const FIRST_TIME = -2_208_988_800 - DAY;
const LAST_TIME = 9_223_372_036;

/** Why a value is not the rows that its headers state. */
export class Wrong extends Error {}

export const isCount = (number: number): boolean => number >= 0 && Number.isSafeInteger(number);

/** True for seconds since 1970 that the log can represent. */
export const isTime = (number: number): boolean => number >= FIRST_TIME && number <= LAST_TIME;

/** Reads the frames of a value of `count` rows. Returns what is wrong as a string: also what `read` throws as Wrong. */
export function readChecked<T>(value: Buffer, count: number, read: (bytes: Buffer) => T): T | string {
  if (count < 1 || count > MAX_ROWS) return `its header count must be 1 to ${String(MAX_ROWS)}`;
  const bytes = readFrames(value, Buffer.alloc(0));
  if (bytes === null) return 'its frames cannot be decompressed';
  try {
    return read(bytes);
  } catch (error) {
    if (error instanceof Wrong) return error.message;
    throw error;
  }
}

/** The columns of a value, one after the other. */
export class CheckedColumns {
  readonly #heads: Readonly<Record<string, Buffer>>;
  readonly #bytes: Buffer;
  readonly #count: number;
  #at = 0;

  /** `heads`: what stands before the data of each column, by name. */
  constructor(heads: Readonly<Record<string, Buffer>>, bytes: Buffer, count: number) {
    this.#heads = heads;
    this.#bytes = bytes;
    this.#count = count;
  }

  /** Where the values of a column begin that take `width` bytes each. */
  fixed(column: string, width: number): number {
    this.#head(column);
    const at = this.#at;
    this.#at += width * this.#count;
    if (this.#at > this.#bytes.length) throw new Wrong(`column ${column} ends before its last value`);
    return at;
  }

  /** Integers, of eight bytes signed ones. */
  numbers(column: string, width: 1 | 2 | 4 | 8, isGood: (number: number, row: number) => boolean = () => true): Float64Array {
    const from = this.fixed(column, width);
    const bytes = this.#bytes;
    return Float64Array.from({ length: this.#count }, (_, row) => {
      const at = from + width * row;
      const number = width === 8 ? bytes.readInt32LE(at + 4) * 4_294_967_296 + bytes.readUInt32LE(at) : bytes.readUIntLE(at, width);
      if (!isGood(number, row)) throw new Wrong(`column ${column} has a value that cannot be`);
      return number;
    });
  }

  /** Finite numbers. */
  floats(column: string): Float64Array {
    const from = this.fixed(column, 8);
    return Float64Array.from({ length: this.#count }, (_, row) => {
      const number = this.#bytes.readDoubleLE(from + 8 * row);
      if (!Number.isFinite(number)) throw new Wrong(`column ${column} has a value that cannot be`);
      return number;
    });
  }

  strings(column: string): StringView {
    this.#head(column);
    return this.#texts(column, this.#count);
  }

  /** Maps of strings: where those of each row end, their names and their values. */
  maps(column: string): { readonly ends: Float64Array; readonly names: StringView; readonly values: StringView } {
    const ends = this.numbers(column, 8, isCount);
    if (ends.some((end, row) => end < (ends[row - 1] ?? 0))) throw new Wrong(`column ${column} has maps that overlap`);
    const count = ends.at(-1) ?? 0;
    return { ends, names: this.#texts(column, count), values: this.#texts(column, count) };
  }

  end(): void {
    const left = this.#bytes.length - this.#at;
    if (left > 0) throw new Wrong(`${String(left)} bytes follow its last column`);
  }

  #texts(column: string, count: number): StringView {
    const texts = new StringView();
    if (!texts.read(this.#bytes, this.#at, count)) throw new Wrong(`column ${column} ends before its last value`);
    this.#at = texts.to;
    return texts;
  }

  #head(column: string): void {
    const head = this.#heads[column];
    if (head?.equals(this.#bytes.subarray(this.#at, this.#at + head.length)) !== true)
      throw new Wrong(`column ${column} of the expected type is not in its place`);
    this.#at += head.length;
  }
}

import { DICTIONARY_FLAGS, DICTIONARY_VERSION, MAX_KEYS, MAX_ROWS, type ColumnHead } from './native.ts';
import type { StringView } from './string-view.ts';
import type { WordView } from './word-view.ts';

/** Why a value is not the rows that its headers state. */
export class Wrong extends Error {}

/** Reads the content of a value of `count` rows; null: its frames are none. Returns what is wrong as a string: also what `read` throws as Wrong. */
export function readChecked<T>(count: number, content: () => Buffer | null, read: (bytes: Buffer) => T): T | string {
  if (count < 1 || count > MAX_ROWS) return `its header count must be 1 to ${String(MAX_ROWS)}`;
  const bytes = content();
  if (bytes === null) return 'its frames cannot be decompressed';
  try {
    return read(bytes);
  } catch (error) {
    if (error instanceof Wrong) return error.message;
    throw error;
  }
}

/** The high half of 1900 in nanoseconds: a DateTime64 begins there, and ends with what 64 bits hold. */
const MIN_TIME_HIGH = Math.floor((-2_208_988_800 * 1e9) / 4_294_967_296);

/**
 * Reads the columns of a value one after the other, where they lie, and checks that they are there: their names and types, as many values as
 * the record has rows, and nothing else. Throws Wrong. It serves value after value.
 */
export class ColumnReader {
  bytes: Buffer = Buffer.alloc(0);
  /** Of the same bytes, and maybe of some behind them. */
  data: DataView = new DataView(this.bytes.buffer, 0, 0);
  count = 0;
  #at = 0;
  #column = '';

  /** Takes the content of a value. */
  begin(bytes: Buffer, count: number): void {
    const { data } = this;
    if (data.buffer !== bytes.buffer || data.byteOffset !== bytes.byteOffset || data.byteLength < bytes.length)
      this.data = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.bytes = bytes;
    this.count = count;
    this.#at = 0;
  }

  /** Begins a column. */
  head({ name, bytes: head }: ColumnHead): void {
    this.#column = name;
    const { bytes } = this;
    const at = this.#at;
    let same = at + head.length <= bytes.length ? 0 : -1;
    while (same >= 0 && same < head.length) same = bytes[at + same] === head[same] ? same + 1 : -1;
    if (same < 0) throw this.wrong('of the expected type is not in its place');
    this.#at = at + head.length;
  }

  /** What is to be thrown of the column that is being read. */
  wrong(what: string): Wrong {
    return new Wrong(`column ${this.#column} ${what}`);
  }

  /** Where the values of a column begin that take `width` bytes each: as many as there are rows, but for those of lists. */
  fixed(width: number, count = this.count): number {
    return this.#take(width * count);
  }

  /** Where the nanoseconds of a column begin, none of which is before the year 1900. */
  nanoseconds(): number {
    const from = this.fixed(8);
    const { data } = this;
    const end = from + 8 * this.count;
    for (let at = from + 4; at < end; at += 8)
      if (data.getInt32(at, true) < MIN_TIME_HIGH) throw this.wrong('has a value before the year 1900');
    return from;
  }

  /** Takes `count` strings: as many as there are rows, but for those of lists. */
  strings(into: StringView, count = this.count): void {
    if (!into.read(this.bytes, this.#at, count)) throw this.#cutOff();
    this.#at = into.to;
  }

  /** The version that stands before words. */
  version(): void {
    if (this.#number() !== DICTIONARY_VERSION) throw this.wrong('has words of an unknown version');
  }

  /** Takes `count` words: as many as there are rows, but for those of lists. */
  words(into: WordView, count = this.count): void {
    const flags = this.#number();
    if ((flags & ~0xff) !== DICTIONARY_FLAGS || (flags & 0xff) > 1) throw this.wrong('has words with flags that are not supported');
    const size = this.#number();
    if (size > MAX_KEYS) throw this.wrong(`has more than ${String(MAX_KEYS)} different words`);
    this.strings(into.keys, size);
    if (this.#number() !== count) throw this.wrong('does not have as many values as its record has rows');
    const isWide = (flags & 0xff) === 1;
    const at = this.#take(isWide ? 2 * count : count);
    if (!into.read(this.data, at, count, isWide)) throw this.wrong('has a code that its dictionary does not have');
  }

  /** Takes where the list of each row ends, and returns where the last one does. */
  ends(into: Uint32Array): number {
    const { count, data } = this;
    const from = this.fixed(8);
    let before = 0;
    for (let i = 0, at = from; i < count; i++, at += 8) {
      const end = data.getUint32(at, true);
      if (end < before || data.getUint32(at + 4, true) !== 0) throw this.wrong('has lists that overlap');
      into[i] = end;
      before = end;
    }
    return before;
  }

  /** Nothing may be left. */
  end(): void {
    const left = this.bytes.length - this.#at;
    if (left > 0) throw new Wrong(`${String(left)} bytes follow its last column`);
  }

  #take(length: number): number {
    const at = this.#at;
    if (at + length > this.bytes.length) throw this.#cutOff();
    this.#at = at + length;
    return at;
  }

  #cutOff(): Wrong {
    return this.wrong('ends before its last value');
  }

  #number(): number {
    const at = this.#take(8);
    if (this.data.getUint32(at + 4, true) !== 0) throw this.wrong('has a size over 2^32');
    return this.data.getUint32(at, true);
  }
}
